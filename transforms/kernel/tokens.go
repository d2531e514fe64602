package kernel

import (
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
)

// findTokens lists the start and end of each token of w.Text() in w.edges.
func (w *Words) findTokens(unit Unit, pattern *Pattern) {
	if unit == Word {
		w.findEdges()
		return
	}
	w.edges = w.edges[:0]
	switch text := w.Text(); unit {
	case Unicode:
		w.findUnicode(text)
	case Whitespace:
		w.findBetweenSpace(text)
	case Regex:
		for at := 0; ; {
			token, end, ok := pattern.find(text, at)
			if !ok {
				break
			}
			if token[0] < token[1] {
				w.edges = append(w.edges, int32(token[0]), int32(token[1]))
			}
			at = end
		}
	}
}

// findUnicode lists the segments between the word boundaries of UAX #29 that have a letter or a number.
func (w *Words) findUnicode(text []byte) {
	for segments := words.FromBytes(text); segments.Next(); {
		if hasLetterOrNumber(segments.Value()) {
			w.edges = append(w.edges, int32(segments.Start()), int32(segments.End()))
		}
	}
}

func hasLetterOrNumber(text []byte) bool {
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			if _, word := foldByte(c); word == 1 && c != '_' {
				return true
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if isLetterOrNumber(r) {
			return true
		}
		i += n
	}
	return false
}

func (w *Words) findBetweenSpace(text []byte) {
	start := -1
	for i := 0; i < len(text); {
		n, space := char(text[i:])
		switch {
		case space && start >= 0:
			w.edges = append(w.edges, int32(start), int32(i))
			start = -1
		case !space && start < 0:
			start = i
		}
		i += n
	}
	if start >= 0 {
		w.edges = append(w.edges, int32(start), int32(len(text)))
	}
}

// hasLength reports whether the token from start to end has at least the given number of characters.
func (w *Words) hasLength(start, end, least int) bool {
	n := end - start
	switch {
	case least <= 1 || n >= least*utf8.UTFMax:
		return true
	case least == 2:
		return n > utf8.UTFMax || isWord(w.lower[start], n)
	}
	return utf8.RuneCount(w.lower[start:end]) >= least
}

// IsToken reports whether an analyzer finds exactly one token in a text, which is the text, so that it can be a stop word.
// A match of a regular expression may depend on the text around it, so any text is one.
func (a Analyzer) IsToken(text string) bool {
	if a.Unit == Regex {
		return text != "" && utf8.ValidString(text) && utf8.RuneCountInString(text) >= a.TokenLength()
	}
	if a.Unit.Characters() {
		return false
	}
	var w Words
	p := newPreprocessor(a)
	p.fold(&w, []byte(text))
	w.findTokens(a.Unit, nil)
	return len(w.edges) == 2 && string(w.Text()) == text && w.edges[0] == 0 && int(w.edges[1]) == w.size &&
		w.hasLength(0, w.size, a.TokenLength())
}
