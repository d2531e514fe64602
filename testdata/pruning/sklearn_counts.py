"""Reads {"file", "cases"} as JSON from stdin: a file of label<TAB>text, and the arguments of CountVectorizer and the model of each
case. Prints for each case the classes, and for each column of CountVectorizer its total, its number of documents and, by class,
the probability that MultinomialNB or BernoulliNB fits to the columns."""

import gzip
import json
import sys

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

job = json.load(sys.stdin)
open_text = gzip.open if job["file"].endswith(".gz") else open
with open_text(job["file"], "rt", encoding="utf-8", errors="replace", newline="\n") as f:
    lines = [line.rstrip("\r\n").split("\t", 1) for line in f if line.strip()]
labels, texts = [line[0] for line in lines], [line[1] for line in lines]
for case in job["cases"]:
    vectorizer = CountVectorizer(**case["vectorizer"])
    x = vectorizer.fit_transform(texts)
    model = {"multinomial": MultinomialNB, "bernoulli": BernoulliNB}[case["model"]](alpha=case["alpha"])
    model.fit(x, labels)
    totals, documents = np.asarray(x.sum(axis=0))[0], np.asarray((x > 0).sum(axis=0))[0]
    theta = np.exp(model.feature_log_prob_).T
    print(json.dumps({
        "classes": list(model.classes_),
        "priors": list(model.class_log_prior_),
        "features": {
            name: {"total": float(totals[i]), "documents": float(documents[i]), "theta": list(theta[i])}
            for name, i in vectorizer.vocabulary_.items()
        },
    }))
