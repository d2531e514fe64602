"""Accuracy of scikit-learn: peers.py TRAIN TEST mnb|logistic K...

TRAIN and TEST have lines of label<TAB>text, plain or compressed with gzip. A K is a percentage of the words. The words are
selected by chi². What it prints, as JSON, is the accuracy by number of words.
"""

import gzip
import json
import sys

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline


def documents(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8", errors="replace", newline="\n") as file:
        return list(zip(*(line.rstrip("\n").split("\t", 1) for line in file)))


train, test, classifier, *ks = sys.argv[1:]
labels, texts = documents(train)
test_labels, test_texts = documents(test)
vectorizer = CountVectorizer()
counts = vectorizer.fit_transform(texts)
test_counts = vectorizer.transform(test_texts)
accuracy = {}
for percent in ks:
    k = -(-counts.shape[1] * float(percent.rstrip("%")) // 100)
    fit = {"mnb": MultinomialNB(), "logistic": LogisticRegression(max_iter=10_000)}[classifier]
    model = make_pipeline(SelectKBest(chi2, k=int(k)), fit).fit(counts, labels)
    accuracy[f"{int(k):,}"] = model.score(test_counts, test_labels)
print(json.dumps(accuracy))
