package modelio

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
)

// Analysis says what the features of documents are, as the options of a run say it. It is zero for a custom table.
type Analysis struct {
	Unit      string // word, char, char_wb, unicode, whitespace or regex
	Pattern   string // of regex
	Ngrams    [2]int // least and most units of a feature
	HashBits  int    // features are counted in 2^HashBits buckets; 0 if by name
	StopWords string // their number and SHA-256; empty if there are none

	Weights        Weights
	Normalize      string // nfc or nfkc; empty if the text is not normalized
	KeepCase       bool
	StripAccents   bool
	MinTokenLength int // 0: the default of the unit
}

// Analysis returns what the options of a run say about its analyzer.
func (a Analyzer) Analysis() Analysis {
	s := Analysis{
		Unit: a.Unit, Ngrams: a.Ngrams, HashBits: a.HashBits,
		Normalize: a.Normalize, KeepCase: a.Lowercase == KeepCase, StripAccents: a.StripAccents != "", MinTokenLength: a.MinTokenLength,
	}
	if a.Weights != nil {
		s.Weights = *a.Weights
	}
	if a.Unit == regexUnit {
		s.Pattern = a.TokenPattern
	}
	if n := len(a.StopWords); n > 0 {
		s.StopWords = fmt.Sprintf("%d words, sha256 %x", n, sha256.Sum256([]byte(strings.Join(a.StopWords, "\n"))))
	}
	return s
}

// Analysis returns the analysis of a run whose options are valid, as those of [ReadManifest] are.
func (r Run) Analysis() Analysis {
	a, _ := ParseAnalysis(r.Options)
	return a
}

// Characters reports whether features are made of characters.
func (a Analysis) Characters() bool { return strings.HasPrefix(a.Unit, "char") }

const regexUnit = "regex"

// Options returns the options that say so, which are named as the flags. Defaults are left out.
func (a Analysis) Options() map[string]string {
	options := map[string]string{}
	if a.Unit != "" {
		options["analyzer"] = a.Unit
	}
	if a.Unit == regexUnit {
		options["analyzer"] += ":" + a.Pattern
	}
	if a.Ngrams[1] > 1 {
		options["ngrams"] = fmt.Sprintf("%d,%d", a.Ngrams[0], a.Ngrams[1])
	}
	if a.HashBits > 0 {
		options["hash_bits"] = strconv.Itoa(a.HashBits)
	}
	if a.StopWords != "" {
		options["stop_words"] = a.StopWords
	}
	if a.Normalize != "" {
		options["normalize"] = a.Normalize
	}
	if a.KeepCase {
		options["keep_case"] = "true"
	}
	if a.StripAccents {
		options["strip_accents"] = "true"
	}
	if a.MinTokenLength > 0 {
		options["min_token_length"] = strconv.Itoa(a.MinTokenLength)
	}
	a.Weights.setOptions(options)
	return options
}

// ParseAnalysis is the inverse of [Analysis.Options]. It ignores other options.
func ParseAnalysis(options map[string]string) (a Analysis, err error) {
	if a.Weights, err = parseWeights(options); err != nil {
		return a, err
	}
	weights := a.Weights
	a.StopWords, a.Normalize = options["stop_words"], options["normalize"]
	a.KeepCase, a.StripAccents = options["keep_case"] == "true", options["strip_accents"] == "true"
	a.Unit, a.Pattern, _ = strings.Cut(options["analyzer"], ":")
	if a.Unit == "" {
		return Analysis{Weights: weights}, nil
	}
	if text, ok := options["min_token_length"]; ok {
		if a.MinTokenLength, err = strconv.Atoi(text); err != nil || a.MinTokenLength < 1 {
			return a, fmt.Errorf("--min_token_length=%s: must be a positive number", text)
		}
	}
	a.Ngrams = [2]int{1, 1}
	if text, ok := options["ngrams"]; ok {
		least, most, _ := strings.Cut(text, ",")
		a.Ngrams[0], err = strconv.Atoi(least)
		if err == nil {
			a.Ngrams[1], err = strconv.Atoi(most)
		}
		if err != nil || a.Ngrams[0] < 1 || a.Ngrams[1] < a.Ngrams[0] {
			return a, fmt.Errorf("--ngrams=%s: must be MIN,MAX, such as 1,2", text)
		}
	}
	if text, ok := options["hash_bits"]; ok {
		if a.HashBits, err = strconv.Atoi(text); err != nil || a.HashBits < 1 {
			return a, fmt.Errorf("--hash_bits=%s: must be a positive number", text)
		}
	}
	return a, nil
}
