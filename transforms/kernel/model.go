package kernel

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/sparsenb/sparsenb/io/modelio"
)

// Describe returns the analyzer of a configuration, as it is published with a model.
func (c Config) Describe() *modelio.Analyzer {
	a := c.Analyzer
	least, most := a.Sizes()
	d := &modelio.Analyzer{Unit: a.Unit.String(), Ngrams: [2]int{least, most}, Lowercase: modelio.FullLowercase, HashBits: c.HashBits}
	if a.Normalize != NoForm {
		d.Normalize = a.Normalize.String()
	}
	if a.KeepCase {
		d.Lowercase = modelio.KeepCase
	}
	if a.StripAccents {
		d.StripAccents = modelio.StripUnicode
	}
	length := a.TokenLength()
	if length != a.Unit.DefaultTokenLength() {
		d.MinTokenLength = length
	}
	switch a.Unit {
	case Word:
		if d.TokenPattern = TokenPattern; length != 2 {
			d.TokenPattern = fmt.Sprintf(`(?u)\b\w{%d,}\b`, length)
		}
	case Whitespace:
		d.TokenPattern = `\S+`
	case Regex:
		d.TokenPattern = a.Pattern
	}
	if !a.Unit.Characters() {
		for _, word := range c.StopWords {
			d.StopWords = append(d.StopWords, string(word))
		}
		slices.Sort(d.StopWords)
		d.StopWords = slices.Compact(d.StopWords)
	}
	d.Weights = c.Weights.describe()
	return d
}

// describe returns the weights as a model has them; nil for occurrences. The unit of Binary is 1 and is left out: such a model
// counts documents.
func (w Weights) describe() *modelio.Weights {
	if !w.Real() {
		return nil
	}
	d := &modelio.Weights{Name: string(w.Scheme), Sublinear: w.Sublinear, Norm: string(w.Norm), SmoothIDF: w.Scheme == TFIDF && !w.PlainIDF}
	if w.Scheme != Binary || w.Exponent != 0 {
		d.Unit = modelio.FormatUnit(w.Exponent)
	}
	return d
}

// weightsOf is the inverse of describe. It does not check the fields.
func weightsOf(d *modelio.Weights) (w Weights, err error) {
	if d == nil {
		return w, nil
	}
	w = Weights{Scheme: Scheme(d.Name), Sublinear: d.Sublinear, Norm: Norm(d.Norm), PlainIDF: d.Name == string(TFIDF) && !d.SmoothIDF}
	if d.Unit != "" {
		if w.Exponent, err = modelio.ParseUnit(d.Unit); err != nil {
			return w, fmt.Errorf("value_unit %w", err)
		}
	}
	return w, w.Validate()
}

// FromAnalyzer is the inverse of [Config.Describe]: a [Counter] with the configuration finds the features of a model in other
// documents. Config.IDF is not part of an analyzer. One that Describe does not make, such as one of a newer version, is an
// error.
func FromAnalyzer(d modelio.Analyzer) (c Config, err error) {
	a := Analyzer{Min: d.Ngrams[0], Max: d.Ngrams[1], MinTokenLength: d.MinTokenLength}
	if a.Unit, err = ParseUnit(d.Unit); err != nil {
		return c, err
	}
	if a.Unit == Regex {
		a.Pattern = d.TokenPattern
	}
	if d.Normalize != "" {
		if a.Normalize, err = ParseForm(d.Normalize); err != nil {
			return c, err
		}
	}
	a.KeepCase, a.StripAccents = d.Lowercase == modelio.KeepCase, d.StripAccents == modelio.StripUnicode
	if err := a.Validate(); err != nil {
		return c, err
	}
	c = Config{Analyzer: a, HashBits: d.HashBits}
	if c.Weights, err = weightsOf(d.Weights); err != nil {
		return c, fmt.Errorf("the weights of the model: %w", err)
	}
	for _, word := range d.StopWords {
		c.StopWords = append(c.StopWords, []byte(word))
	}
	if a.Max < a.Min || a.Max > MaxNgram || d.HashBits < 0 || d.HashBits > MaxHashBits || !reflect.DeepEqual(c.Describe(), &d) {
		text, _ := json.Marshal(d)
		return c, fmt.Errorf("unknown analyzer %.500s; it was probably written by a newer version of sparsenb", text)
	}
	return c, nil
}
