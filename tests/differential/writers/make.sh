#!/bin/sh
# SPDX-License-Identifier: MIT
# make.sh [OUTDIR]: writes the fixtures writer.* anew, into fixtures/ or into OUTDIR: stores by other programs than zarr-python, and
# beside each the tree that a mount of it must show. Needs ../setup.sh --writers. The bytes are the same each time.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:-$here/../../../fixtures}"
out=$(cd "${1:-$here/../../../fixtures}" && pwd)

make() { # name, script, arguments
  fixture=$out/writer.$1
  script=$here/$2
  shift 2
  rm -rf "$fixture"
  mkdir -p "$fixture"
  "$here/../run" --writers "$script" "$fixture/store" "$@"
  "$here/../run" "$here/../reference.py" dump "$fixture/store" "$fixture/expect" 2>"$fixture/log" || { cat "$fixture/log" >&2; exit 1; }
  rm "$fixture/log"
}
make nwb nwb.py
make anndata.v2 anndata_tables.py 2
make anndata.v3 anndata_tables.py 3
make tensorstore tensors.py
make zarrs zarrs_pipeline.py
make xarray.v2 xarray_dataset.py 2
make xarray.v3 xarray_dataset.py 3
make ome.v04 ome_image.py 0.4
make ome.v05 ome_image.py 0.5
