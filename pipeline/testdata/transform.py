"""Reads cases as JSON on stdin. For each it reads the matrix of `sparsenb transform` in its three layouts, fits scikit-learn's
naive Bayes to the selected columns, and prints how far the layouts and the weights differ."""

import json
import sys

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file
from sklearn.naive_bayes import BernoulliNB, MultinomialNB


def difference(case):
    columns = pd.read_parquet(case["lists"] + "/columns.parquet")
    assert list(columns["column"]) == list(range(len(columns)))
    assert list(columns["feature"]) == sorted(columns["feature"])
    rows = pd.read_parquet(case["lists"] + "/rows.parquet")
    starts = np.r_[0, rows["indices"].map(len).cumsum()]
    X = sp.csr_matrix((np.concatenate(rows["values"]), np.concatenate(rows["indices"]), starts), shape=(len(rows), len(columns)))
    assert X.has_sorted_indices and (X.data > 0).all()

    wide = pd.read_parquet(case["wide"] + "/rows.parquet")
    ours = ["source", "offset", "id", "label"]
    names = ["feature:" + n if n in ours or n.startswith("feature:") else n for n in columns["feature"]]
    assert list(wide.columns) == ours + names, list(wide.columns)
    assert wide[ours].equals(rows[ours])
    layouts = abs(X - sp.csr_matrix(wide[names].to_numpy())).max()

    light, numbers = load_svmlight_file(case["svmlight"] + "/rows.svmlight", n_features=len(columns))
    classes = pd.read_parquet(case["svmlight"] + "/classes.parquet")
    assert list(classes["class"]) == sorted(set(rows["label"])) and list(classes["number"]) == list(range(len(classes)))
    assert (classes["class"].to_numpy()[numbers.astype(int)] == rows["label"]).all()
    layouts = max(layouts, abs(X - light).max())

    if case["exponent"] is not None:  # the model's counts are sums of rounded values
        X.data = np.rint(np.ldexp(X.data, -case["exponent"])) * 2.0 ** case["exponent"]
    models = pd.read_parquet(case["model"] + "/model.parquet")
    features = pd.read_parquet(case["model"] + "/features.parquet")
    places = dict(zip(columns["feature"], columns["column"]))
    ids = dict(zip(columns["feature"], columns["feature_id"]))
    assert set(features["feature"]) == set(columns["feature"])
    assert all(ids[name] == i for name, i in zip(features["feature"], features["feature_id"]))
    weights, label = 0, rows["label"].to_numpy()
    for key, selected in features.groupby(["problem", "smoothing", "k"]):
        m = models[(models["problem"] == key[0]) & (models["smoothing"] == key[1]) & (models["k"] == key[2])].iloc[0]
        of = np.isin(label, [m.positive, m.negative]) if m.strategy == "ovo" else np.ones(len(label), bool)
        joint = m.strategy == "joint"
        of_class = selected[selected["class"] == m.positive] if joint else selected
        y = label if joint else label == m.positive
        nb = BernoulliNB(alpha=m.smoothing) if m.model == "bernoulli" else MultinomialNB(alpha=m.smoothing)
        nb.fit(X[of][:, [places[n] for n in of_class["feature"]]], y[of])
        logs = nb.feature_log_prob_
        if m.model == "bernoulli":
            logs = logs - np.log1p(-np.exp(logs))
        if joint:
            wanted = selected["weight"].to_numpy().reshape(-1, len(nb.classes_)).T
            logs, wanted = logs - logs.mean(axis=0), wanted - wanted.mean(axis=0)
        else:
            logs, wanted = logs[1] - logs[0], selected["weight"].to_numpy()
        weights = max(weights, np.abs(logs - wanted).max())
    return {"layouts": float(layouts), "weights": float(weights), "values": int(X.nnz), "models": len(models)}


if __name__ == "__main__":
    json.dump([difference(case) for case in json.load(sys.stdin)], sys.stdout)
