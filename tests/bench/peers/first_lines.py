# SPDX-License-Identifier: MIT
"""First five lines, then exit.  ARGS: STORE KIND, KIND = json | polars | tensorstore:FIELD | field:FIELD."""
import sys
store, kind = sys.argv[1:3]
if kind.startswith("tensorstore"):
    import numpy as np  # noqa: F401
    import tensorstore as ts
    from _peer import Peer
    p = Peer()
    z = ts.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": store}, "field": kind.split(":")[1]}, open=True, read=True).result()
    p.opened()
    print("\n".join(map(repr, z[:5].read().result().tolist())))
elif kind.startswith("field"):
    import zarr  # noqa: F401
    from _peer import Peer, open_zarr
    p = Peer()
    z = open_zarr(store)
    p.opened()
    print("\n".join(map(repr, z[:5][kind.split(":")[1]].tolist())))
elif kind == "json":
    import json
    import zarr  # noqa: F401
    from _peer import Peer, open_zarr
    p = Peer()
    z = open_zarr(store)
    p.opened()
    for r in z[:5].tolist():
        print(json.dumps(dict(zip(z.dtype.names, r)), ensure_ascii=False))
else:
    import polars as pl
    import pyarrow  # noqa: F401
    import zarr  # noqa: F401
    from _peer import Peer, arrow, open_zarr
    p = Peer()
    z = open_zarr(store)
    p.opened()
    pl.from_arrow(arrow(z[:5])).write_ndjson(sys.stdout.buffer)
p.done(5)
