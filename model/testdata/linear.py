"""Reads cases as JSON on stdin: prints for each the coefficients of scikit-learn's classes, fitted to columns, and what they say
about the documents."""

import json
import sys

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.svm import LinearSVC


def fit(case):
    rows = [line.rstrip("\n").split("\t", 1) for line in open(case["file"], encoding="utf-8")]
    y = np.array([label for label, _ in rows])
    keep = np.isin(y, case["classes"])
    X = CountVectorizer(vocabulary=case["columns"]).transform([text for _, text in rows])
    est = LogisticRegression(max_iter=1000) if case["classifier"] == "logistic" else LinearSVC(random_state=0)
    wrap = {"ovr": OneVsRestClassifier, "ovo": OneVsOneClassifier}.get(case["strategy"], lambda e: e)
    est = wrap(est).fit(X[keep], y[keep])
    parts = getattr(est, "estimators_", [est])
    out = {
        "coefficients": np.vstack([p.coef_ for p in parts]).tolist(),
        "intercepts": np.concatenate([p.intercept_ for p in parts]).tolist(),
        "predicted": est.predict(X).tolist(),
        "decisions": est.decision_function(X).tolist(),
    }
    if case["classifier"] == "logistic" and case["strategy"] != "ovo":
        out["probabilities"] = est.predict_proba(X).tolist()
    return out


if __name__ == "__main__":
    json.dump([fit(case) for case in json.load(sys.stdin)], sys.stdout)
