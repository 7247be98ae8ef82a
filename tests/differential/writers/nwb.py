# SPDX-License-Identifier: MIT
"""An NWB file by pynwb and hdmf-zarr: trials whose column `timeseries` is a compound with object references, pixel masks, an
electrodes table, text columns. nwb.py FOLDER"""
import datetime
import itertools
import sys
import uuid
import warnings

import hdmf.container
import numpy as np
import pynwb
from hdmf_zarr.nwb import NWBZarrIO
from pynwb.ophys import ImageSegmentation, OpticalChannel

warnings.simplefilter("ignore")
counter = itertools.count(1)
hdmf.container.uuid4 = lambda: uuid.UUID(int=next(counter))      # else every run gives other names
WHEN = datetime.datetime(2020, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)


def main(folder):
    nwb = pynwb.NWBFile(session_description="fixture", identifier="fixture-1", session_start_time=WHEN, file_create_date=[WHEN])
    series = pynwb.TimeSeries(name="speed", data=np.arange(60) / 8, unit="m/s", rate=10.0)
    nwb.add_acquisition(series)
    nwb.add_trial_column("stimulus", "text of any length")
    for i in range(6):
        nwb.add_trial(start_time=float(i), stop_time=i + .5, stimulus=["left", "right", "\u00b5-burst"][i % 3], timeseries=[series], tags=["a", "b"][:i % 3])
    device = nwb.create_device("probe")
    group = nwb.create_electrode_group("shank0", description="d", location="CA1", device=device)
    for i in range(4):
        nwb.add_electrode(group=group, location="CA1", x=float(i), y=0.5, z=float("nan"))
    channel = OpticalChannel("channel", "d", 500.0)
    plane = nwb.create_imaging_plane("plane", optical_channel=channel, description="d", device=device, excitation_lambda=600.0, indicator="GFP", location="V1")
    segments = ImageSegmentation()
    nwb.create_processing_module("ophys", "d").add(segments)
    table = segments.create_plane_segmentation("cells", imaging_plane=plane, name="cells")
    for i in range(3):
        table.add_roi(pixel_mask=[(i + k, k, k / 4) for k in range(5)])
    with NWBZarrIO(folder, "w") as io:
        io.write(nwb, cache_spec=False)


main(sys.argv[1])
