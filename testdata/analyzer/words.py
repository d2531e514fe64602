"""Writes words.json: texts and the words that scikit-learn's CountVectorizer() finds in them. With --codepoints it prints,
for every code point that Python's Unicode version assigns, whether it is a word character, its lower case, and how a
capital sigma before and after it is lowered; the Go test compares that with its own answers."""

import json
import sys
import unicodedata

from sklearn.feature_extraction.text import CountVectorizer

analyze = CountVectorizer().build_analyzer()

TEXTS = [
    "",
    " ",
    "a",
    "ab",
    "a b cd",
    "Upon the WHOLE, it's a well-known, self_evident truth; isn't it? I_1 x2 _ __ 42 7",
    "tab\tseparated\x0bvertical\x0cfeed nul\x00byte bell\x07rings del\x7fete",
    "e\u0301tude étude ÉTUDE naïve NAÏVE cafe\u0301s",
    "İstanbul ISTANBUL ıstanbul İİ Iİ",
    "ΟΔΟΣ ΟΔΟΣ. ΣΟΦΟΣ Σ ΣΣ ΑΣ' ΑΣ'Β 'ΣΑ Α.Σ Α:Σ Α.Σ.Β ΑΣ\u0301 ΑΣ\u0301Β ΑΣ1 1Σ ΑΣ_ Α_Σ",
    "Straße STRASSE ẞ GROẞ ſ ſt",
    "ǅ ǆ Ǆ ǅungla ꟸꟹ",
    "Kelvin: \u212a \u212aelvin 300\u212a Ångström \u212b",
    "中文分词 很 好 日本語のテキスト ひ ﾊﾝｶｸ 한국어 한",
    "हिन्दी भाषा में ปริญญา العربية בעברית",
    "½ ¼cup x² x₂ ²² Ⅷ ⅷ ①② 一二三 ௧௨ ٣٤ ⅣⅤ",
    "emoji 😀😀 a😀b 👍🏽ok mathbb 𝔸𝔹 𝟘𝟙 𐐀𐐁 𞤀𞤁",
    "a\u200db zero\u200bwidth soft\u00adhyphen non\u00a0breaking a\u2019b l\u2019été",
    "under_score _lead trail_ __init__ ___ a_ _b",
    "Ⱥbc ȺȾ Ⱦ ⱥ",
    "x" * 100 + " " + "Y" * 64 + " " + "z" * 63 + "é " + "é" * 64,
    "ﬁ ﬂ ﬃx ŉ ǰ",
    "Ω Ωmega µ μ µm",
    "\ufeffbom inside \ufeff text",
    "\ufffd a\ufffdb re\ufffdplaced",
    "A\u0345Σ A\u0345Σx Ⓐ ⓐ ⒶΣ ªΣ ΣªΣ",
]


def codepoints():
    for c in range(sys.maxunicode + 1):
        ch = chr(c)
        if unicodedata.category(ch) in ("Cn", "Cs"):
            continue
        word = ch == "_" or ch.isalnum()
        after = ("Α" + ch + "Σ").lower()[-1]
        before = ("ΑΣ" + ch + "Α").lower()[1]
        print(f"{c:x} {int(word)} {ch.lower().encode('utf-8').hex()} {ord(after):x} {ord(before):x}")


if __name__ == "__main__":
    if "--codepoints" in sys.argv:
        codepoints()
    elif "--analyze" in sys.argv:  # documents in hexadecimal on stdin, a line of words for each
        for line in sys.stdin:
            text = bytes.fromhex(line.strip()).decode("utf-8", errors="replace")
            print(json.dumps({"words": analyze(text), "replaced": text.count("\ufffd")}))
    else:
        json.dump([{"text": t, "words": analyze(t)} for t in TEXTS], sys.stdout, ensure_ascii=True, indent=1)
        print()
