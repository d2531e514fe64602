"""Writes ngrams.json: texts, and how often each feature occurs in them by scikit-learn's CountVectorizer(). With --count it
reads lines of JSON on stdin, [unit, min, max, stop words, text in hexadecimal], and prints the counts of each. With --classes
unit min max file… it reads documents, a line label<TAB>text each, and prints as JSON for each feature and class how often it
occurs and in how many documents."""

import json
import sys
from collections import Counter
from functools import cache

from sklearn.feature_extraction.text import CountVectorizer

from words import TEXTS

SETTINGS = [
    ("word", 1, 2), ("word", 2, 2), ("word", 1, 3), ("word", 3, 5),
    ("char", 1, 1), ("char", 2, 2), ("char", 1, 3), ("char", 5, 20),
    ("char_wb", 1, 1), ("char_wb", 2, 3), ("char_wb", 1, 4), ("char_wb", 5, 12), ("char_wb", 4, 4),
]
SPACES = [
    "two  spaces   three\ttab \t both\u00a0\u00a0hard \u2003 em\u2028line\x1c\x1dseparators \x85next",
    "  at the edges  ", " ", "   ", "\t", "a", "ab", "é", " é ", "x y z", "one", "a  b", "\u3000ideographic\u3000",
]
STOPPED = ("word", 1, 2, ["upon", "the", "of", "the people"], "Upon the power of the people of the United States")


@cache
def analyzer(unit, least, most, stop):
    return CountVectorizer(analyzer=unit, ngram_range=(least, most), stop_words=list(stop) or None).build_analyzer()


def counts(unit, least, most, stop, text):
    return dict(sorted(Counter(analyzer(unit, least, most, tuple(stop))(text)).items()))


def classes(unit, least, most, files):
    labels, texts = [], []
    for name in files:
        for line in open(name, "rb").read().split(b"\n"):
            if line:
                label, text = line.decode("utf-8", errors="replace").split("\t", 1)
                labels.append(label)
                texts.append(text)
    vectorizer = CountVectorizer(analyzer=unit, ngram_range=(least, most))
    counts = vectorizer.fit_transform(texts)
    names = vectorizer.get_feature_names_out()
    out = {str(name): {} for name in names}
    for label in sorted(set(labels)):
        rows = counts[[i for i, other in enumerate(labels) if other == label]]
        occurrences, documents = rows.sum(axis=0).A1, (rows > 0).sum(axis=0).A1
        for i in occurrences.nonzero()[0]:
            out[str(names[i])][label] = [int(occurrences[i]), int(documents[i])]
    return out


if __name__ == "__main__":
    if "--classes" in sys.argv:
        at = sys.argv.index("--classes")
        unit, least, most, *files = sys.argv[at + 1:]
        print(json.dumps(classes(unit, int(least), int(most), files)))
    elif "--count" in sys.argv:
        for line in sys.stdin:
            unit, least, most, stop, text = json.loads(line)
            print(json.dumps(counts(unit, least, most, stop, bytes.fromhex(text).decode("utf-8", errors="replace"))))
    else:
        cases = [(*setting, [], text) for setting in SETTINGS for text in TEXTS + SPACES] + [STOPPED]
        with open(__file__.replace(".py", ".json"), "w") as f:
            f.write("[\n" + ",\n".join(json.dumps(
                dict(unit=u, min=a, max=b, stop=s, text=t, counts=counts(u, a, b, s, t))) for u, a, b, s, t in cases) + "\n]\n")
