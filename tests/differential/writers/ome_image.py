# SPDX-License-Identifier: MIT
"""A small multiscale image with a label image by ome-zarr. ome_image.py FOLDER FORMAT (0.4 in version 2, 0.5 in version 3)"""
import sys
import warnings

import numpy as np
import zarr
from ome_zarr.format import FormatV04, FormatV05
from ome_zarr.writer import write_image, write_labels

warnings.simplefilter("ignore")


def main(folder, version):
    fmt = FormatV04() if version == "0.4" else FormatV05()
    image = (np.arange(2 * 20 * 24).reshape(2, 20, 24) * 37 % 4099).astype("u2")
    group = zarr.open_group(folder, mode="w", zarr_format=2 if version == "0.4" else 3)
    write_image(image, group, axes="cyx", fmt=fmt, scaler=None, storage_options={"chunks": (1, 16, 16)})
    write_labels((image[0] > 2000).astype("u1"), group, name="cells", axes="yx", fmt=fmt, scaler=None, storage_options={"chunks": (16, 16)})


main(sys.argv[1], sys.argv[2])
