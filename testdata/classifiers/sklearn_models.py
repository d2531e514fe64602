"""Fits scikit-learn's classifiers to the columns that runs have selected, and compares them with model.parquet and
features.parquet. Reads from standard input a JSON list of runs: dir, file (a TSV of label and text), binary, tfidf, c.
Writes for each run a list with an object for each model: problem, k, smoothing, and

difference  of the naive Bayes classifiers: the largest difference of an intercept or a weight, relative to 1 and the number
ours, best  of the others: the value of the objective for our parameters, and for those of scikit-learn
"""

import json
import sys

import numpy as np
import pandas as pd
from scipy.special import log_expit, log_softmax
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.svm import LinearSVC


def sides(model, joint):
    """The intercepts and the weights by class; of two classes those of the second over the first."""
    weights = model.feature_log_prob_
    intercepts = model.class_log_prior_
    if isinstance(model, BernoulliNB):
        absent = np.log1p(-np.exp(weights))
        weights, intercepts = weights - absent, intercepts + absent.sum(axis=1)
    if isinstance(model, ComplementNB):
        intercepts = np.zeros(len(weights))
    if joint:
        return intercepts - intercepts.mean(), weights - weights.mean(axis=0)
    return intercepts[1:] - intercepts[0], weights[1:] - weights[0]


def objective(classifier, c, x, y, intercepts, weights):
    """Of a row for each class, or of one row if there are two classes, 0 and 1."""
    scores = x @ weights.T + intercepts
    if classifier == "logistic":
        if len(weights) == 1:
            loss = -log_expit(scores[:, 0] * (2 * y - 1))
        else:
            loss = -log_softmax(scores, axis=1)[np.arange(len(y)), y]
        return float((weights**2).sum() / 2 + c * loss.sum())
    signs = (2 * y - 1)[:, None] if len(weights) == 1 else 2 * (y[:, None] == np.arange(len(weights))) - 1
    loss = np.maximum(0, 1 - signs * scores) ** 2
    return float((weights**2).sum() / 2 + (intercepts**2).sum() / 2 + c * loss.sum())


def compare(run, models, features, labels, texts):
    first = models.iloc[0]
    joint = first.strategy == "joint"
    columns = list(dict.fromkeys(features.feature))
    keep = np.ones(len(labels), dtype=bool)
    if first.strategy == "ovo":
        keep = (labels == first.positive) | (labels == first.negative)
    if run.get("tfidf"):
        vectorizer = TfidfVectorizer().fit(texts)
        x = vectorizer.transform(texts[keep])[:, [vectorizer.vocabulary_[name] for name in columns]]
    else:
        x = CountVectorizer(vocabulary=columns, binary=run.get("binary", False)).transform(texts[keep]).astype(float)
    y = np.searchsorted(np.unique(labels), labels) if joint else (labels[keep] == first.positive).astype(int)
    intercepts = models.intercept.to_numpy()
    weights = features.weight.to_numpy().reshape(len(columns), len(models)).T
    result = {"problem": first.problem, "k": int(first.k), "smoothing": first.smoothing}
    c = run.get("c", 1)
    if first.classifier in ("logistic", "svm"):
        if first.classifier == "logistic":
            best = LogisticRegression(C=c, tol=1e-10, max_iter=1000, solver="newton-cg").fit(x, y)
        else:
            best = LinearSVC(C=c, tol=1e-9, max_iter=20000, dual=False).fit(x, y)
        return result | {
            "ours": objective(first.classifier, c, x, y, intercepts, weights),
            "best": objective(first.classifier, c, x, y, best.intercept_, best.coef_),
        }
    nb = {"mnb": MultinomialNB, "cnb": ComplementNB, "bnb": BernoulliNB}[first.classifier](alpha=first.smoothing)
    want = sides(nb.fit(x, y), joint)
    if joint:
        intercepts, weights = intercepts - intercepts.mean(), weights - weights.mean(axis=0)
    difference = max(
        np.max(np.abs(got - w) / np.maximum(1, np.abs(w))) for got, w in zip((intercepts, weights), want, strict=True)
    )
    return result | {"difference": float(difference)}


def main():
    results = []
    for run in json.load(sys.stdin):
        lines = [line.split("\t", 1) for line in open(run["file"], encoding="utf-8").read().splitlines()]
        labels, texts = (np.array(column, dtype=object) for column in zip(*lines, strict=True))
        models = pd.read_parquet(run["dir"] + "/model.parquet")
        features = pd.read_parquet(run["dir"] + "/features.parquet")
        key = ["problem", "smoothing", "k"]
        groups = dict(iter(features.groupby(key)))
        results.append([compare(run, m, groups[k], labels, texts) for k, m in models.groupby(key)])
    json.dump(results, sys.stdout)


main()
