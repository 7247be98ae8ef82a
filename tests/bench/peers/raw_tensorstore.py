# SPDX-License-Identifier: MIT
"""Raw bytes of one field with tensorstore (field=NAME of a struct array; - for a plain one)."""
import sys
import numpy as np
import tensorstore as ts
from _peer import Peer
p = Peer()
spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": sys.argv[1]}}
if sys.argv[2] != "-":
    spec["field"] = sys.argv[2]
z = ts.open(spec, open=True, read=True).result()
p.opened()
a = z.read().result()
sys.stdout.buffer.write(memoryview(np.ascontiguousarray(a).reshape(-1)).cast("B"))
p.done(a.size)
