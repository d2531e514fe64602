"""Reads cases as JSON on stdin and prints, for each decision of a case and each document, what scikit-learn's classes say who
are fitted to the same columns: the predicted class and the probabilities, or the decision values of one-vs-one."""

import json
import sys
from decimal import MAX_EMAX, MIN_EMIN, Decimal, getcontext

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

getcontext().prec, getcontext().Emin, getcontext().Emax = 40, MIN_EMIN, MAX_EMAX
queue = []  # of the columns of the problems, in the order in which scikit-learn fits them


class Selected(ClassifierMixin, BaseEstimator):
    """Naive Bayes of the next columns in the queue."""

    def __init__(self, make=None):
        self.make = make

    def fit(self, X, y):
        self.columns_ = queue.pop(0)
        self.nb_ = self.make().fit(X[:, self.columns_], y)
        self.classes_ = self.nb_.classes_
        return self

    def predict(self, X):
        return self.nb_.predict(X[:, self.columns_])

    def predict_proba(self, X):
        return self.nb_.predict_proba(X[:, self.columns_])


class Tiny(ClassifierMixin, BaseEstimator):
    """Naive Bayes with smoothing 10^-1000000, in decimal arithmetic."""

    def __init__(self, classifier="mnb"):
        self.classifier = classifier

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        eps, X = Decimal(10) ** -1000000, X.toarray()
        bnb, cnb = self.classifier == "bnb", self.classifier == "cnb"
        self.prior_, self.present_, self.absent_ = [], [], []
        for c in self.classes_:
            rows = X[y == c]
            self.prior_.append((Decimal(len(rows)) / len(y)).ln() if not cnb else Decimal(0))
            counts = [Decimal(int(f)) for f in (rows > 0 if bnb else X[y != c] if cnb else rows).sum(axis=0)]
            total = len(rows) + 2 * eps if bnb else sum(counts) + eps * len(counts)
            self.present_.append([((f + eps) / total).ln() * (-1 if cnb else 1) for f in counts])
            self.absent_.append([((total - eps - f) / total).ln() if total - 2 * eps > f else (eps / total).ln() for f in counts] if bnb else [0] * len(counts))
        return self

    def jll(self, X):
        rows = X.toarray()
        if self.classifier == "bnb":
            rows = rows > 0
        return [[p + sum(int(v) * a if v else b for v, a, b in zip(row, w, o)) for p, w, o in zip(self.prior_, self.present_, self.absent_)] for row in rows]

    def exact(self, X):
        for row in self.jll(X):
            e = [(s - max(row)).exp() for s in row]
            yield [x / sum(e) for x in e]

    def predict_proba(self, X):
        return np.array([[float(p) for p in row] for row in self.exact(X)])

    def predict(self, X):
        return self.classes_[[row.index(max(row)) for row in self.jll(X)]]


def matrix(case, texts):
    if case.get("idf"):
        vectorizer = TfidfVectorizer(ngram_range=tuple(case["ngrams"]), norm=case["idf"])
        X = vectorizer.fit_transform(texts[:case["train"]])
        X = sp.vstack([X, vectorizer.transform(texts[case["train"]:])]).tocsr()
    else:
        vectorizer = CountVectorizer(ngram_range=tuple(case["ngrams"]))
        X = vectorizer.fit_transform(texts)
    names = list(vectorizer.get_feature_names_out())
    if case["buckets"]:
        buckets = sorted(set(case["buckets"].values()))
        place = {b: i for i, b in enumerate(buckets)}
        to = sp.csr_matrix((np.ones(len(names), int), (range(len(names)), [place[case["buckets"][n]] for n in names])), shape=(len(names), len(buckets)))
        X, names = (X @ to).tocsr(), buckets
    return X, {n: i for i, n in enumerate(names)}


def decide(case):
    labels, texts = [], []
    for name in case["files"]:
        n = 0
        for line in open(name, encoding="utf-8", newline="\n"):
            label, text = line.rstrip("\n").split("\t", 1)
            labels.append(label)
            texts.append(text)
        case.setdefault("train", len(labels))
    labels = np.array(labels)
    X, places = matrix(case, texts)
    train = slice(0, case["train"])
    for d in case["decisions"]:
        columns = [[places[n] for n in names] for names in d["columns"]]

        def nb():
            if d["smoothing"] == 0:
                return Tiny(case["classifier"])
            return {"mnb": MultinomialNB, "bnb": BernoulliNB, "cnb": ComplementNB}[case["classifier"]](alpha=d["smoothing"])

        queue[:] = columns
        out = {}
        if d["strategy"] == "ovr" and len(columns) > 1:
            est = OneVsRestClassifier(Selected(nb)).fit(X[train], labels[train])
            out["probabilities"] = est.predict_proba(X).tolist()
            out["predicted"] = est.predict(X).tolist()
            if d["smoothing"] == 0:  # all probabilities may be 0 as float, and are then not divided by their sum
                exact = zip(*([row[1] for row in e.nb_.exact(X[:, e.columns_])] for e in est.estimators_))
                out["probabilities"] = [[float(p / sum(row)) for p in row] for row in exact]
        elif d["strategy"] == "ovo" and len(columns) > 1:
            est = OneVsOneClassifier(Selected(nb)).fit(X[train], labels[train])
            out["decisions"] = est.decision_function(X).tolist()
            out["predicted"] = est.predict(X).tolist()
        else:
            y, rows = labels[train], np.ones(case["train"], bool)
            if d["strategy"] == "ovr":
                y = np.where(y == d["classes"][0], y, "\uffff")
            elif d["strategy"] == "ovo":
                rows = np.isin(y, d["classes"])
            est = nb().fit(X[train][rows][:, columns[0]], y[rows])
            out["probabilities"] = est.predict_proba(X[:, columns[0]]).tolist()
            out["predicted"] = [d["classes"][1] if p == "\uffff" else p for p in est.predict(X[:, columns[0]]).tolist()]
            if d["smoothing"] > 0:
                out["logs"] = est.predict_log_proba(X[:, columns[0]]).tolist()
                out["scale"] = float(np.abs(est.predict_joint_log_proba(X[:, columns[0]])).max())
        yield out


if __name__ == "__main__":
    json.dump([list(decide(case)) for case in json.load(sys.stdin)], sys.stdout)
