"""Labels of documents by a model, as other tools find them: peers.py train|predict TOOL FILE MODEL OUTPUT

FILE has lines of label<TAB>text. MODEL is a folder: train reads the words that sparsenb selected from it, and writes the
model of the tool to it. predict writes a label and its probability for each document to OUTPUT. A word is what it is for
sparsenb and for scikit-learn: two or more letters, digits or underscores, in lower case. What predict prints, as JSON, is
how many documents there are, and how many got the label that they have.
"""

import itertools
import json
import math
import os
import pickle
import re
import sys
import tempfile

WORDS = re.compile(r"(?u)\b\w\w+\b").findall
BATCH = 10_000  # documents


def batches(path):
    """Labels and texts."""

    def documents():
        with open(path, encoding="utf-8", errors="replace", newline="\n") as file:
            for line in file:
                label, _, text = line.rstrip("\n").partition("\t")
                yield label, text

    stream = documents()
    while batch := list(itertools.islice(stream, BATCH)):
        yield zip(*batch)


class Parquet:
    """The table that the peers with Python objects write."""

    def __init__(self, path):
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = {"label": pa.string(), "predicted": pa.string(), "log_probability": pa.float64()}
        self.pa, self.schema = pa, pa.schema(columns)
        self.writer = pq.ParquetWriter(path, self.schema)
        self.documents = self.correct = 0

    def write(self, labels, predicted, log_probabilities):
        self.writer.write_table(self.pa.table([labels, predicted, log_probabilities], schema=self.schema))
        self.documents += len(labels)
        self.correct += sum(a == b for a, b in zip(labels, predicted))

    def close(self):
        self.writer.close()
        return self.documents, self.correct


class ScikitLearn:
    """Multinomial naive Bayes of the words that sparsenb selected."""

    def train(self, path, model):
        import pyarrow.parquet as pq
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.naive_bayes import MultinomialNB

        words = pq.read_table(os.path.join(model, "features.parquet"), columns=["feature"])["feature"].unique().to_pylist()
        labels, texts = zip(*(document for batch in batches(path) for document in zip(*batch)))
        vectorizer = CountVectorizer(vocabulary=words)
        classifier = MultinomialNB().fit(vectorizer.transform(texts), labels)
        with open(os.path.join(model, "scikit-learn"), "wb") as file:
            pickle.dump((vectorizer, classifier), file)

    def predict(self, path, model, output):
        import numpy as np

        with open(os.path.join(model, "scikit-learn"), "rb") as file:
            vectorizer, classifier = pickle.load(file)
        table = Parquet(output)
        for labels, texts in batches(path):
            log = classifier.predict_log_proba(vectorizer.transform(texts))
            best = log.argmax(axis=1)
            table.write(labels, classifier.classes_[best].tolist(), log[np.arange(len(best)), best])
        return table.close()


class FastText:
    """Its classifier of all words. Python finds the words, or the text is taken as it is: words between spaces."""

    def __init__(self, name, words):
        self.name, self.words = name, words

    def line(self, text):
        return " ".join(WORDS(text.lower())) if self.words else text

    def train(self, path, model):
        import fasttext

        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
            for labels, texts in batches(path):
                file.writelines(f"__label__{label} {self.line(text)}\n" for label, text in zip(labels, texts))
            file.flush()
            learned = fasttext.train_supervised(file.name, dim=10, thread=os.cpu_count(), verbose=0)
            learned.save_model(os.path.join(model, self.name))

    def predict(self, path, model, output):
        import fasttext

        learned = fasttext.load_model(os.path.join(model, self.name))
        table = Parquet(output)
        for labels, texts in batches(path):
            predicted, probabilities = learned.predict([self.line(text) for text in texts])
            names = [p[0].removeprefix("__label__") for p in predicted]
            table.write(labels, names, [math.log(max(p[0], 5e-324)) for p in probabilities])
        return table.close()


class VowpalWabbit:
    """Its linear classifiers, of hashes of all words. Python writes the words in its format; the output is text."""

    def classes(self, model):
        with open(os.path.join(model, "vowpalwabbit.json")) as file:
            return json.load(file)

    def convert(self, path, file, classes, learn):
        labels_of_all = []
        for labels, texts in batches(path):
            for label, text in zip(labels, texts):
                if learn:
                    classes.setdefault(label, len(classes) + 1)
                file.write(f"{classes.get(label, 1) if learn else ''} | {' '.join(WORDS(text.lower()))}\n")
            labels_of_all += labels
        file.flush()
        return labels_of_all

    def train(self, path, model):
        from vowpalwabbit import Workspace

        classes = {}
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
            self.convert(path, file, classes, True)
            options = f"--oaa {len(classes)} --probabilities --loss_function logistic"
            Workspace(f"--data {file.name} {options} -f {os.path.join(model, 'vowpalwabbit')} --quiet").finish()
        with open(os.path.join(model, "vowpalwabbit.json"), "w") as file:
            json.dump(classes, file)

    def predict(self, path, model, output):
        from vowpalwabbit import Workspace

        classes = self.classes(model)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
            labels = self.convert(path, file, classes, False)
            Workspace(f"-t -i {os.path.join(model, 'vowpalwabbit')} --probabilities --data {file.name} -p {output} --quiet").finish()
        names = {str(number): label for label, number in classes.items()}
        documents = correct = 0
        with open(output) as file:
            for label, line in zip(labels, file):  # 1:0.25 2:0.75
                best = max((score.split(":") for score in line.split()), key=lambda pair: float(pair[1]))
                documents += 1
                correct += names[best[0]] == label
        return documents, correct


TOOLS = {
    "scikit-learn": ScikitLearn(),
    "fasttext": FastText("fasttext", True),
    "fasttext-text": FastText("fasttext-text", False),
    "vowpalwabbit": VowpalWabbit(),
}


def main():
    action, tool, path, model, output = sys.argv[1:]
    if action == "train":
        return TOOLS[tool].train(path, model)
    documents, correct = TOOLS[tool].predict(path, model, output)
    print(json.dumps({"documents": documents, "correct": correct}))


main()
