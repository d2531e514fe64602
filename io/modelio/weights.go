package modelio

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// BinaryWeights is the name of the weights of a selection that uses documents in place of occurrences.
const BinaryWeights = "binary"

// WeightNames are the values of --weights.
var WeightNames = []string{"count", BinaryWeights, "log", "tfidf"}

// Weights say what a document adds to the count of a feature. The zero value means its occurrences.
type Weights struct {
	Name      string `json:"name"`                   // one of WeightNames
	Unit      string `json:"value_unit,omitempty"`   // counts are multiples of it; see FormatUnit
	Sublinear bool   `json:"sublinear_tf,omitempty"` // of tfidf, and so are the next two
	Norm      string `json:"norm,omitempty"`
	SmoothIDF bool   `json:"smooth_idf,omitempty"`
}

// FormatUnit writes the unit 2^exponent.
func FormatUnit(exponent int) string { return "2^" + strconv.Itoa(exponent) }

// ParseUnit reads a power of two, such as 1, 0.5 or 2^-10, and returns its exponent.
func ParseUnit(text string) (exponent int, err error) {
	if power, ok := strings.CutPrefix(text, "2^"); ok {
		if exponent, err = strconv.Atoi(power); err == nil {
			return exponent, nil
		}
	} else if unit, err := strconv.ParseFloat(text, 64); err == nil && unit > 0 {
		if fraction, e := math.Frexp(unit); fraction == 0.5 {
			return e - 1, nil
		}
	}
	return 0, fmt.Errorf("%q: must be a power of two, such as 1, 0.5 or 2^-10", text)
}

// setOptions adds the options of a run that say so, which are named as the flags. Defaults are left out.
func (w Weights) setOptions(options map[string]string) {
	set := func(name, value string) {
		if value != "" {
			options[name] = value
		}
	}
	set("weights", w.Name)
	set("value_unit", w.Unit)
	set("norm", w.Norm)
	if w.Sublinear {
		options["sublinear_tf"] = "true"
	}
	if w.Name == "tfidf" && !w.SmoothIDF {
		options["smooth_idf"] = "false"
	}
}

// parseWeights is the inverse of setOptions.
func parseWeights(options map[string]string) (w Weights, err error) {
	w = Weights{Name: options["weights"], Unit: options["value_unit"], Norm: options["norm"], Sublinear: options["sublinear_tf"] == "true"}
	w.SmoothIDF = w.Name == "tfidf" && options["smooth_idf"] != "false"
	if w.Unit != "" {
		if _, err := ParseUnit(w.Unit); err != nil {
			return w, fmt.Errorf("--value_unit=%w", err)
		}
	}
	return w, nil
}
