# SPDX-License-Identifier: MIT
"""A small annotated matrix by anndata: record arrays of a differential expression (rank_genes_groups), text and categorical columns,
a sparse matrix. anndata_tables.py FOLDER FORMAT (2 or 3)"""
import sys
import warnings

import anndata
import numpy as np
import pandas as pd
import scipy.sparse

warnings.simplefilter("ignore")
GROUPS = ["B cells", "CD4+ T/NK", "\u03b3\u03b4 T", "NA", "1"]


def ranks(kind, value):
    out = np.zeros(7, [(g, kind) for g in GROUPS])
    for k, g in enumerate(GROUPS):
        out[g] = [value(k, i) for i in range(7)]
    return out


def main(folder, version):
    anndata.settings.zarr_write_format = version
    obs = pd.DataFrame({"kind": pd.Categorical(["B", "T", "B", "NK", "T"]), "note": ["a\tb", "", "\u00e9", "q\"c,", "z"], "n": np.arange(5, dtype="i4"), "ok": [True, False, True, True, False]},
                       index=[f"cell{i}" for i in range(5)])
    var = pd.DataFrame({"length": np.array([100, 2 ** 40, 7], "i8")}, index=["ENSG1", "ENSG\u00b5", "x"])
    dense = np.array([[0, 1.5, 0], [0, 0, 2], [1e-5, 0, 0], [0, 0, 0], [np.nan, 3, 0]], "f4")
    data = anndata.AnnData(scipy.sparse.csr_matrix(dense), obs=obs, var=var)
    data.layers["dense"] = dense
    data.obsm["X_pca"] = np.arange(10, dtype="f8").reshape(5, 2) / 3
    data.uns["rank_genes_groups"] = {
        "params": {"groupby": "kind", "method": "t-test", "use_raw": False},
        "names": ranks("U9", lambda k, i: f"g\u00e9ne{k}{i}"[:4 + i]), "scores": ranks("f4", lambda k, i: k - i / 4),
        "pvals": ranks("f8", lambda k, i: 4.9e-324 if i == 3 else 0.05 ** i), "logfoldchanges": ranks("f4", lambda k, i: [np.nan, np.inf, -np.inf, -0.0, 0.1, 1, 2][i])}
    data.write_zarr(folder)


main(sys.argv[1], int(sys.argv[2]))
