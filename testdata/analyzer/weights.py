"""Prints as JSON what scikit-learn's vectorizers and the weights of sparsenb give: for each feature and class [the sum of the
values rounded to multiples of 2**exponent, the number of documents, the sum before rounding]. Reads from stdin a JSON list of cases, each with the parameters weights,
exponent, sublinear_tf, norm, smooth_idf, analyzer, ngrams, and files (a line label<TAB>text each)."""

import json
import sys

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer


def values(p):
    labels, texts = [], []
    for name in p["files"]:
        for line in open(name, "rb").read().split(b"\n"):
            if line:
                label, text = line.decode("utf-8", errors="replace").split("\t", 1)
                labels.append(label)
                texts.append(text)
    words = dict(analyzer=p["analyzer"], ngram_range=tuple(p["ngrams"]))
    if p["weights"] == "tfidf":
        vectorizer = TfidfVectorizer(**words, sublinear_tf=p["sublinear_tf"], norm=p["norm"] or None, smooth_idf=p["smooth_idf"])
    else:
        vectorizer = CountVectorizer(**words, binary=p["weights"] == "binary", dtype=np.float64)
    exact = vectorizer.fit_transform(texts).tocsr()
    if p["weights"] == "log":
        exact.data = 1 + np.log(exact.data)
    rounded = exact.copy()
    rounded.data = np.rint(exact.data * 2.0 ** -p["exponent"])
    names, labels, out = vectorizer.get_feature_names_out(), np.array(labels), {}
    for label in sorted(set(labels)):
        of = labels == label
        units, documents, sums = rounded[of].sum(axis=0).A1, (rounded[of] > 0).sum(axis=0).A1, exact[of].sum(axis=0).A1
        for i in documents.nonzero()[0]:
            out.setdefault(str(names[i]), {})[str(label)] = [units[i] * 2.0 ** p["exponent"], int(documents[i]), sums[i]]
    return out


json.dump([values(case) for case in json.load(sys.stdin)], sys.stdout)
