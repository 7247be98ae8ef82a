# SPDX-License-Identifier: MIT
"""A dataset by xarray: coordinates, times, text, a scalar, missing values. xarray_dataset.py FOLDER FORMAT (2 or 3)"""
import sys
import warnings

import numpy as np
import pandas as pd
import xarray as xr

warnings.simplefilter("ignore")


def main(folder, version):
    t = pd.date_range("2020-02-28", periods=4, freq="12h")
    data = xr.Dataset(
        {"temperature": (("time", "lat", "lon"), np.round(np.linspace(-5, 5, 24), 2).reshape(4, 2, 3).astype("f4"), {"units": "degC"}),
         "flag": (("lat", "lon"), np.array([[True, False, True], [False, False, True]])), "name": ("lat", np.array(["north", "s\u00fcd"], object)),
         "code": ("lat", np.array([b"N1", b"S"], "S2")), "count": ((), np.int64(7))},
        {"time": t, "lat": [10.5, -10.5], "lon": ("lon", np.array([0, 1, 2], "i2")), "delay": ("time", pd.to_timedelta([0, 1, 90, -5], "s"))}, {"title": "fixture", "version": 1})
    data["temperature"][1, 0, 2] = np.nan
    data.to_zarr(folder, zarr_format=version, encoding={"temperature": {"chunks": (3, 2, 2), "_FillValue": -999.0}, "time": {"units": "hours since 2020-01-01", "dtype": "int32"}})


main(sys.argv[1], int(sys.argv[2]))
