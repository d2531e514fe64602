"""Documents to class counts, as other tools do it: peers.py PEER FILE MIN,MAX

FILE has lines of label<TAB>text; MIN,MAX are the lengths of n-grams, for the peers that can. A word is what it is for
sparsenb and for scikit-learn: two or more letters, digits or underscores, in lower case. The counts stay in memory. What
is printed, as JSON, is how many tokens were counted, and how many different features they are.
"""

import json
import os
import re
import sys
import tempfile

WORDS = re.compile(r"(?u)\b\w\w+\b").findall
BATCH = 10_000  # documents


def documents(path):
    with open(path, encoding="utf-8", newline="\n") as file:
        for line in file:
            label, _, text = line.rstrip("\n").partition("\t")
            yield label, text


def countvectorizer(path, ngrams):
    import numpy as np
    from scipy.sparse import csr_array
    from sklearn.feature_extraction.text import CountVectorizer

    labels = []

    def texts():
        for label, text in documents(path):
            labels.append(label)
            yield text

    vectorizer = CountVectorizer(ngram_range=ngrams)
    matrix = vectorizer.fit_transform(texts())
    _, classes = np.unique(labels, return_inverse=True)
    rows = np.arange(len(labels))
    counts = csr_array((np.ones(len(labels), np.int64), (classes, rows))) @ matrix
    return counts.sum(), len(vectorizer.get_feature_names_out())


def hashingvectorizer(path, ngrams):
    """Hashes in place of names, so that it need not hold all documents at once."""
    import itertools

    import numpy as np
    from sklearn.feature_extraction.text import HashingVectorizer

    columns = 2**20 if ngrams == (1, 1) else 2**22  # the first is its default
    vectorizer = HashingVectorizer(n_features=columns, ngram_range=ngrams, norm=None, alternate_sign=False)
    counts = {}
    stream = documents(path)
    while batch := list(itertools.islice(stream, BATCH)):
        labels, texts = zip(*batch)
        matrix, labels = vectorizer.transform(texts), np.array(labels)
        for label in np.unique(labels):
            sums = np.asarray(matrix[np.flatnonzero(labels == label)].sum(axis=0)).ravel()
            counts[label] = counts.get(label, 0) + sums
    total = sum(counts.values())
    return total.sum(), np.count_nonzero(total)


def polars(path, ngrams):
    import polars as pl

    words = pl.col("text").str.to_lowercase().str.extract_all(r"\w{2,}")
    counts = (
        pl.scan_csv(path, separator="\t", has_header=False, quote_char=None, schema={"label": pl.String, "text": pl.String})
        .select("label", words.alias("word"))
        .explode("word")
        .drop_nulls("word")
        .group_by("label", "word")
        .len()
        .collect(engine="streaming")
    )
    return counts["len"].sum(), counts["word"].n_unique()


def duckdb(path, ngrams):
    import duckdb

    counts = duckdb.execute(
        r"""SELECT label, word, count(*) AS n
            FROM (SELECT label, unnest(regexp_extract_all(lower(text), '[\p{L}\p{N}_]{2,}')) AS word
                  FROM read_csv(?, delim='\t', header=false, quote='', escape='', max_line_size=8388608,
                                columns={label: 'VARCHAR', text: 'VARCHAR'}))
            GROUP BY label, word""",
        [path],
    ).fetchnumpy()
    return counts["n"].sum(), len(set(counts["word"]))


def vowpalwabbit(path, ngrams):
    """It does not count but learns, in one pass, from words that Python has to find for it."""
    from vowpalwabbit import Workspace

    tokens, classes = 0, {}
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
        for label, text in documents(path):
            words = WORDS(text.lower())
            tokens += len(words)
            file.write(f"{classes.setdefault(label, len(classes) + 1)} | {' '.join(words)}\n")
        file.flush()
        Workspace(f"--data {file.name} --oaa {len(classes)} --quiet").finish()
    return tokens, None


def fasttext(path, ngrams):
    """It learns vectors from its counts, here in one pass, from words that Python has to find for it."""
    import fasttext

    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
        for label, text in documents(path):
            file.write(f"__label__{label} {' '.join(WORDS(text.lower()))}\n")
        file.flush()
        model = fasttext.train_supervised(file.name, epoch=1, dim=10, thread=os.cpu_count(), verbose=0)
    counts = dict(zip(*model.get_words(include_freq=True)))
    counts.pop("</s>", None)  # the end of a line
    return sum(counts.values()), len(counts)


def spark(path, ngrams):
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as F

    session = SparkSession.builder.master("local[*]").config("spark.ui.enabled", False).getOrCreate()
    words = F.regexp_extract_all(F.lower("text"), F.lit(r"[\p{L}\p{N}_]{2,}"), F.lit(0))
    counts = (
        session.read.csv(path, sep="\t", schema="label string, text string", quote="", escape="", maxCharsPerColumn=-1)
        .select("label", F.explode(words).alias("word"))
        .groupBy("label", "word")
        .count()
    )
    tokens, features = counts.agg(F.sum("count"), F.count_distinct("word")).first()
    session.stop()
    return tokens, features


def main():
    peer, path, ngrams = sys.argv[1:]
    peers = [countvectorizer, hashingvectorizer, polars, duckdb, vowpalwabbit, fasttext, spark]
    count = {f.__name__: f for f in peers}[peer]
    tokens, features = count(path, tuple(map(int, ngrams.split(","))))
    print(json.dumps({"tokens": int(tokens), "features": None if features is None else int(features)}))


main()
