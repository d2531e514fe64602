"""Reads a JSON list of problems from standard input: svm, c, classes, rows (dense), class, count. Writes for each the minimum of
the objective that scikit-learn's LogisticRegression(C=c) or LinearSVC(C=c) finds; of several support vector machines, the sum."""

import json
import sys
import warnings

import numpy as np
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

warnings.filterwarnings("ignore")


def minimum(p):
    x, y, n, c = np.array(p["rows"], dtype=float), np.array(p["class"]), np.array(p["count"]), p["c"]
    if p["svm"]:
        m = LinearSVC(C=c, dual=False, tol=1e-10, max_iter=20000).fit(x, y, sample_weight=n)
        signs = 2 * y[:, None] - 1 if p["classes"] == 2 else 2 * (y[:, None] == np.arange(p["classes"])) - 1
        loss = (np.maximum(0, 1 - signs * (x @ m.coef_.T + m.intercept_)) ** 2).sum(axis=1)
        return ((m.coef_**2).sum() + (m.intercept_**2).sum()) / 2 + c * (n @ loss)
    m = LogisticRegression(C=c, solver="newton-cg", tol=1e-10, max_iter=1000).fit(x, y, sample_weight=n)
    scores = x @ m.coef_.T + m.intercept_
    if p["classes"] == 2:
        scores = np.hstack([np.zeros_like(scores), scores])
    loss = -log_softmax(scores, axis=1)[np.arange(len(y)), y]
    return (m.coef_**2).sum() / 2 + c * (n @ loss)


json.dump([float(minimum(p)) for p in json.load(sys.stdin)], sys.stdout)
