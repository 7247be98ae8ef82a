# SPDX-License-Identifier: MIT
"""Open a group of many arrays and print their names; then open one and read a record.  ARGS: STORE KIND, KIND = zarr | zarr_keys | listdir | tensorstore_list."""
import sys
store, kind = sys.argv[1:3]
if kind == "tensorstore_list":
    import tensorstore as ts
    from _peer import Peer
    p = Peer()
    kv = ts.KvStore.open({"driver": "file", "path": store + "/"}).result()
    p.opened()
    names = [k.decode().split("/")[0] for k in kv.list().result() if k.endswith(b"/zarr.json")]
else:
    import zarr
    from _peer import Peer
    p = Peer()
    g = zarr.open_group(store, mode="r")
    p.opened()
    names = list(g.array_keys()) if kind == "zarr_keys" else [k for k, _ in g.members()]
print("\n".join(names))
p.done(len(names))
