"""Reads cases from stdin as JSON: texts, labels, folds, and points with alpha, bernoulli and the features that are selected
without each fold. Writes for each case and point the accuracies and log losses of the folds, by cross_val_score."""
import hashlib
import json
import sys

from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import PredefinedSplit, cross_val_score
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.pipeline import make_pipeline


def fold_of(text, folds):  # as in docs/tune.md
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") % folds


class Selection(TransformerMixin, BaseEstimator):
    """The columns that were selected on the documents that fit gets: those of all folds but one."""

    def __init__(self, folds, selected):
        self.folds, self.selected = folds, selected

    def fit(self, texts, labels=None):
        (held,) = set(range(self.folds)) - {fold_of(text, self.folds) for text in texts}
        self.vectorizer_ = CountVectorizer(vocabulary=self.selected[held])
        return self

    def transform(self, texts):
        return self.vectorizer_.transform(texts)


results = []
for case in json.load(sys.stdin):
    texts, labels, folds = case["texts"], case["labels"], case["folds"]
    cv = PredefinedSplit([fold_of(text, folds) for text in texts])
    figures = []
    for point in case["points"]:
        classifier = BernoulliNB if point["bernoulli"] else MultinomialNB
        pipeline = make_pipeline(Selection(folds, point["selected"]), classifier(alpha=point["alpha"]))
        figures.append({
            "accuracy": list(cross_val_score(pipeline, texts, labels, cv=cv, scoring="accuracy")),
            "balanced": list(cross_val_score(pipeline, texts, labels, cv=cv, scoring="balanced_accuracy")),
            "loss": list(-cross_val_score(pipeline, texts, labels, cv=cv, scoring="neg_log_loss")),
        })
    results.append(figures)
json.dump(results, sys.stdout)
