"""Reads lines of JSON on stdin, [parameters of CountVectorizer, a normal form or "", text in hexadecimal], and prints how often
each feature occurs in the text. The text is normalized first, for which CountVectorizer has no parameter. With --codepoints
it prints the code points that Python's Unicode version assigns."""

import json
import re
import sys
import unicodedata
from collections import Counter
from functools import cache

from sklearn.feature_extraction.text import CountVectorizer


@cache
def analyzer(parameters, form):
    arguments = json.loads(parameters)
    vectorizer = CountVectorizer(**{**arguments, "ngram_range": tuple(arguments["ngram_range"])})
    if form:
        preprocess = vectorizer.build_preprocessor()
        vectorizer.preprocessor = lambda text: preprocess(unicodedata.normalize(form, text))
    return vectorizer.build_analyzer()


if "--codepoints" in sys.argv:
    print(json.dumps([c for c in range(sys.maxunicode + 1) if unicodedata.category(chr(c)) not in ("Cn", "Cs")]))
else:
    for line in sys.stdin:
        parameters, form, text = json.loads(line)
        try:
            analyze = analyzer(json.dumps(parameters), form)
            print(json.dumps(Counter(analyze(bytes.fromhex(text).decode("utf-8", errors="replace")))))
        except (re.error, ValueError) as error:
            print(json.dumps({"error: " + str(error): 1}))
