# SPDX-License-Identifier: MIT
"""Arrays whose chunks the Rust library zarrs encodes, behind zarr-python's metadata. zarrs_pipeline.py FOLDER"""
import sys
import warnings

import numpy as np
import zarr
import zarrs  # noqa: F401  registers the pipeline
from zarr.codecs import BloscCodec, Crc32cCodec, GzipCodec, TransposeCodec, ZstdCodec

warnings.simplefilter("ignore")


def main(folder):
    zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})
    zarr.open_group(folder, mode="w", zarr_format=3, attributes={"by": "zarrs"})
    grid = np.arange(7 * 10, dtype="<i8").reshape(7, 10) * 1001 - 5000
    for name, kw in [("gzip", {"compressors": GzipCodec(level=1)}), ("zstd", {"compressors": ZstdCodec(level=3, checksum=True)}), ("crc32c", {"compressors": Crc32cCodec()}),
                     ("blosc", {"compressors": BloscCodec(cname="lz4", clevel=5, shuffle="bitshuffle")}), ("transposed", {"filters": TransposeCodec(order=(1, 0)), "compressors": None}),
                     ("sharded", {"shards": (4, 6), "compressors": ZstdCodec(level=1)})]:
        arr = zarr.create_array(f"{folder}/{name}", shape=grid.shape, dtype=grid.dtype, chunks=(2, 3), fill_value=-7, **kw)
        arr[:6, :9] = grid[:6, :9]
    for name, data in [("float16", np.array([0.1, -0.0, np.nan, 65504], "<f2")), ("bool", np.array([1, 0, 1], bool)), ("complex64", np.array([1 + 2j, -0.5j], "<c8"))]:
        arr = zarr.create_array(f"{folder}/{name}", shape=(5,), dtype=data.dtype, chunks=(2,), compressors=None)
        arr[:len(data)] = data
    arr = zarr.create_array(f"{folder}/string", shape=(5,), dtype="string", chunks=(2,), shards=(4,), fill_value="?")
    arr[0:3] = np.array(["a", "", "\u00e9\n"], object)


main(sys.argv[1])
