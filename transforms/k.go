package transforms

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// K is how many features are asked for: a number, or a share of all.
type K struct {
	Text    string // as it was given
	Number  int64
	Percent float64 // if Number is 0
}

// ParseK reads a number such as 9, or a percentage such as 5%.
func ParseK(text string) (K, error) {
	k := K{Text: text}
	var err error
	if percent, ok := strings.CutSuffix(text, "%"); ok {
		k.Percent, err = strconv.ParseFloat(percent, 64)
		if err != nil || !(k.Percent > 0 && k.Percent <= 100) {
			return k, fmt.Errorf("%q is no percentage above 0%% and up to 100%%", text)
		}
		return k, nil
	}
	k.Number, err = strconv.ParseInt(text, 10, 64)
	if err != nil || k.Number < 1 {
		return k, fmt.Errorf("%q is neither a number from 1 nor a percentage such as 5%%", text)
	}
	return k, nil
}

// of is k for m features: a percentage is rounded to the nearest number, and is 1 at least.
func (k K) of(m int64) int64 {
	if k.Number > 0 {
		return min(k.Number, m)
	}
	return min(max(int64(math.Round(k.Percent/100*float64(m))), 1), m)
}
