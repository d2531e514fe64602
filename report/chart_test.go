package report

import (
	"math"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/io/modelio"
)

func TestChart(t *testing.T) {
	path := func(rows ...modelio.PathRow) (p Path) {
		for _, r := range rows {
			r.Gap = r.UpperBoundGain - r.Gain
			p.Rows = append(p.Rows, r)
		}
		return p
	}
	row := func(k int64, gain, bound float64) modelio.PathRow {
		return modelio.PathRow{K: k, Gain: gain, UpperBoundGain: bound}
	}
	several := path(row(1, 0, 600), row(2, 500, 800), row(5, 900, 1000), row(10, 1234, 1240), row(20, 1500, 1500), row(50, 1700, 1700), row(100, 1800, 1800), row(120, 2000, 2000))
	several.Selected = []int64{5, 20, 100}
	two := path(row(1, 0.25, 0.25), row(2, 0.5, 0.5))
	for name, c := range map[string]struct {
		path Path
		want string
	}{
		// A row is 200. The gain of k = 5 is 4.5 rows, and the bound of k = 1 is 3. The bar of k = 100 is cut by that of 120.
		"several": {several, `
   gain
  2,000 ┤                                                     ███
        │                                           ▄▄▄     █ ███
        │                                 ▄▄▄       ███     █ ███
        │                         ▁▁▁     ███       ███     █ ███
        │                         ███     ███       ███     █ ███
  1,000 ┤                  ▄▄▄    ███     ███       ███     █ ███
        │        ░░░       ███    ███     ███       ███     █ ███
        │░░░     ▄▄▄       ███    ███     ███       ███     █ ███
        │░░░     ███       ███    ███     ███       ███     █ ███
        │░░░     ███       ███    ███     ███       ███     █ ███
      0 └─┬────────────────────────┬───────────────────────────┬─
          1                        10                         120 k (log)
                            ▲              ▲                 ▲

  █ gain   ░ between the gain and its upper bound
  ▲ k = 5: 45 % of the highest gain; k = 20: 75 %; k = 100: 90 %
`},
		"two ks": {two, `
  gain
   0.5 ┤                                                     ███
       │                                                     ███
       │                                                     ███
       │                                                     ███
       │                                                     ███
  0.25 ┤███                                                  ███
       │███                                                  ███
       │███                                                  ███
       │███                                                  ███
       │███                                                  ███
     0 └─┬────────────────────────────────────────────────────┬─
         1                                                    2  k (log)

  █ gain (equal to the upper bound)
`},
		"little gain": {path(row(1, 1e-9, 1e-9), row(2, 1, 1)), `
  gain
  1.00 ┤                                                     ███
       │                                                     ███
       │                                                     ███
       │                                                     ███
       │                                                     ███
   0.5 ┤                                                     ███
       │                                                     ███
       │                                                     ███
       │                                                     ███
       │▁▁▁                                                  ███
     0 └─┬────────────────────────────────────────────────────┬─
         1                                                    2  k (log)

  █ gain (equal to the upper bound)
`},
		"one k":      {path(row(5, 1, 1)), "\n\n"},
		"none":       {Path{}, "\n\n"},
		"equal ks":   {path(row(5, 1, 1), row(5, 1, 1)), "\n\n"},
		"no gain":    {path(row(1, 0, 0), row(2, 0, 0)), "\n\n"},
		"no number":  {path(row(1, math.NaN(), 1), row(2, 1, 1)), "\n\n"},
		"infinite":   {path(row(1, 0, 1), row(2, math.Inf(1), 1)), "\n\n"},
		"negative k": {path(row(-1, 0, 1), row(2, 1, 1)), "\n\n"},
	} {
		if got := "\n" + strings.Join(c.path.Chart(), "\n") + "\n"; got != c.want {
			t.Errorf("%s:%s\nwant%s", name, got, c.want)
		}
	}
}

// Charts fit into 80 columns, and no damaged file makes one fail.
func TestChartOfAnything(t *testing.T) {
	numbers := []float64{0, math.SmallestNonzeroFloat64, 1e-300, 0.1, 1, 123456789.5, 999999999.5, 1e15, 1e300, math.MaxFloat64, math.NaN(), math.Inf(1), -1}
	for _, last := range []int64{1, 2, 3, 10, 11, 99999, 1 << 40, math.MaxInt64} {
		for _, gain := range numbers {
			for _, bound := range numbers {
				p := Path{Selected: []int64{1, last, last - 1}}
				for k := int64(1); k < last; k = max(k+1, k+k/3) {
					p.Rows = append(p.Rows, modelio.PathRow{K: k, Gain: gain / 2, UpperBoundGain: bound / 3})
					if k > math.MaxInt64/2 {
						break
					}
				}
				p.Rows = append(p.Rows, modelio.PathRow{K: last, Gain: gain, UpperBoundGain: bound})
				for _, line := range p.Chart() {
					if n := len([]rune(line)); n > 80 {
						t.Fatalf("k = %d, gain %v, bound %v: %d columns: %s", last, gain, bound, n, line)
					}
				}
			}
		}
	}
}
