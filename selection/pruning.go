package selection

import (
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"

	"github.com/sparsenb/sparsenb/io/modelio"
)

// Pruning says which features are left out before a selection, as if they had never been counted. The zero value leaves out
// none. A feature is left out by the first rule that it does not satisfy, in the order of the fields.
type Pruning struct {
	Vocabulary  Names         // if given, only these features are left. Those that the counts do not have are left with counts of 0
	Exclude     Names         // these are left out
	MinDF       DocumentLimit // features in fewer documents are left out
	MaxDF       DocumentLimit // features in more documents are left out
	MinCount    int64         // features with fewer occurrences in all classes are left out; 0: no limit
	MaxFeatures int64         // the most frequent of the rest are left; 0: no limit
}

// The rules, named as their flags.
const (
	ruleVocabulary  = "vocabulary"
	ruleExclude     = "exclude"
	ruleMinDF       = "min_df"
	ruleMaxDF       = "max_df"
	ruleMinCount    = "min_count"
	ruleMaxFeatures = "max_features"
)

// pruningRules lists the rules in the order in which they apply.
var pruningRules = []string{ruleVocabulary, ruleExclude, ruleMinDF, ruleMaxDF, ruleMinCount, ruleMaxFeatures}

// DocumentLimit is a number of documents, of all classes together: absolute, or a share of all documents.
type DocumentLimit struct {
	Text   string // as given; empty: no limit
	Number int64
	Share  float64 // 0 to 1, if Relative

	Relative bool
	Percent  bool // Relative, and given as a percentage
}

// ParseDocumentLimit parses a number of documents such as 5, or a share of all documents: a percentage such as 1%, or a number
// with a point from 0.0 to 1.0, as a float is for scikit-learn. So 1 is one document, and 1.0 is all of them.
func ParseDocumentLimit(text string) (l DocumentLimit, err error) {
	l.Text = text
	if l.Number, err = strconv.ParseInt(text, 10, 64); err == nil && l.Number >= 0 {
		return l, nil
	}
	l.Number = 0
	number, percent := strings.CutSuffix(text, "%")
	if percent {
		number += "e-2" // rounded once; 7/100 and 0.07 may differ
	}
	l.Share, err = strconv.ParseFloat(number, 64)
	l.Relative, l.Percent = true, percent
	switch {
	case err == nil && l.Share >= 0 && l.Share <= 1:
		return l, nil
	case err == nil && !percent && l.Share > 1 && l.Share <= 100:
		return l, fmt.Errorf("%q: a number with a point is a share of the documents, from 0.0 to 1.0; for a number of documents write %.0f, for a percentage %s%%",
			text, math.Ceil(l.Share), text)
	}
	return l, fmt.Errorf("%q: must be a number of documents such as 5, or a share of them: a percentage such as 1%% or a number such as 0.01", text)
}

// of returns the limit as a number of documents, which need not be whole. The product is that of scikit-learn, except that a
// percentage which is a whole number of documents is that number: 7% of 100 are 7, 0.07 × 100 are 7.000000000000001.
func (l DocumentLimit) of(documents int64) float64 {
	if !l.Relative {
		return float64(l.Number)
	}
	n := l.Share * float64(documents)
	if whole := math.Round(n); l.Percent && math.Abs(n-whole) <= 1e-9*n {
		return whole
	}
	return n
}

// Any reports whether a rule is given.
func (p Pruning) Any() bool { return len(p.options()) > 0 }

// NeedsDocuments reports whether a rule needs the number of documents of a feature, and whether one needs that of all classes.
func (p Pruning) NeedsDocuments() (ofFeature, ofClasses bool) {
	return p.MinDF.Text != "" || p.MaxDF.Text != "", p.MinDF.Relative || p.MaxDF.Relative
}

// Validate returns an error for the first rule that is out of range or contradicts another. The error has modelio.ExitUsage and
// names the flag.
func (p Pruning) Validate() error {
	least, most := p.MinDF, p.MaxDF
	switch {
	case most.Text != "" && most.Number == 0 && most.Share == 0:
		return modelio.Usagef("--max_df=%s: leaves out every feature; it must be at least 1 document, or a share above 0%%", most.Text)
	case least.Text != "" && most.Text != "" && least.Relative == most.Relative && (least.Number > most.Number || least.Share > most.Share):
		return modelio.Usagef("--min_df=%s is above --max_df=%s: every feature is left out", least.Text, most.Text)
	case p.MinCount < 0:
		return modelio.Usagef("--min_count=%d: must be a whole number of at least 1", p.MinCount)
	case p.MaxFeatures < 0:
		return modelio.Usagef("--max_features=%d: must be a whole number of at least 1", p.MaxFeatures)
	}
	return nil
}

// ValidateFor returns an error, like [Pruning.Validate], if a rule cannot be applied to features that are counted in 2^hashBits
// buckets. 0 means that they are counted by name.
func (p Pruning) ValidateFor(hashBits int) error {
	for flag, names := range map[string]Names{ruleVocabulary: p.Vocabulary, ruleExclude: p.Exclude} {
		if names.given() && hashBits > 0 {
			return modelio.Usagef("--%s: lists features by name, and cannot be used with --hash_bits=%d, which counts buckets of names together", flag, hashBits)
		}
	}
	return nil
}

// options returns the rules that are given as options of a run.
func (p Pruning) options() map[string]string {
	options := map[string]string{
		ruleVocabulary: p.Vocabulary.String(), ruleExclude: p.Exclude.String(), ruleMinDF: p.MinDF.Text, ruleMaxDF: p.MaxDF.Text,
	}
	if p.MinCount > 0 {
		options[ruleMinCount] = strconv.FormatInt(p.MinCount, 10)
	}
	if p.MaxFeatures > 0 {
		options[ruleMaxFeatures] = strconv.FormatInt(p.MaxFeatures, 10)
	}
	maps.DeleteFunc(options, func(_, value string) bool { return value == "" })
	return options
}

// ParsePruning is the inverse of the options of a run. Of files of names, it has the number and the checksum only. It ignores
// other options.
func ParsePruning(options map[string]string) (p Pruning, err error) {
	for rule, limit := range map[string]*DocumentLimit{ruleMinDF: &p.MinDF, ruleMaxDF: &p.MaxDF} {
		if text := options[rule]; text != "" {
			if *limit, err = ParseDocumentLimit(text); err != nil {
				return p, fmt.Errorf("--%s: %w", rule, err)
			}
		}
	}
	for rule, number := range map[string]*int64{ruleMinCount: &p.MinCount, ruleMaxFeatures: &p.MaxFeatures} {
		if text := options[rule]; text != "" {
			if *number, err = strconv.ParseInt(text, 10, 64); err != nil || *number < 1 {
				return p, fmt.Errorf("--%s=%s: must be a whole number of at least 1", rule, text)
			}
		}
	}
	for rule, names := range map[string]*Names{ruleVocabulary: &p.Vocabulary, ruleExclude: &p.Exclude} {
		if text := options[rule]; text != "" {
			if *names, err = parseNames(text); err != nil {
				return p, fmt.Errorf("--%s: %w", rule, err)
			}
		}
	}
	return p, nil
}
