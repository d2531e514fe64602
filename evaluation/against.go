package evaluation

import (
	"math"
	"slices"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/model"
)

// Contingency compares the decisions of two models on the same documents.
type Contingency struct {
	Both, Only, OnlyOther, Neither int64 // documents for which both decisions are correct, and so on
}

// Add adds a document, n times.
func (c *Contingency) Add(correct, other bool, n int64) {
	switch {
	case correct && other:
		c.Both += n
	case correct:
		c.Only += n
	case other:
		c.OnlyOther += n
	default:
		c.Neither += n
	}
}

// Merge adds the documents of o.
func (c *Contingency) Merge(o Contingency) {
	c.Both += o.Both
	c.Only += o.Only
	c.OnlyOther += o.OnlyOther
	c.Neither += o.Neither
}

// Documents returns the number of documents.
func (c Contingency) Documents() int64 { return c.Both + c.Only + c.OnlyOther + c.Neither }

// fewDiscordant is the number of documents on which one decision of two is correct, from which on McNemar's test uses the χ²
// distribution.
const fewDiscordant = 25

// McNemar tests whether two decisions are correct equally often. p is the probability of a difference at least as large if they
// are. With fewer than fewDiscordant documents on which exactly one is correct it is that of the exact two-sided binomial test,
// and exact is true; otherwise that of χ² = (|b - c| - 1)²/(b + c), with one degree of freedom (Edwards 1948).
func (c Contingency) McNemar() (p, statistic float64, exact bool) {
	few, n := min(c.Only, c.OnlyOther), c.Only+c.OnlyOther
	if n >= fewDiscordant {
		difference := math.Abs(float64(c.Only-c.OnlyOther)) - 1
		if difference < 0 {
			difference = 0
		}
		statistic = difference * difference / float64(n)
		return math.Erfc(math.Sqrt(statistic / 2)), statistic, false
	}
	tail, binomial := int64(0), int64(1) // exact: sums of binomial coefficients are at most 2²⁴
	for i := range few + 1 {
		tail += binomial
		binomial = binomial * (n - i) / (i + 1)
	}
	return math.Min(1, 2*float64(tail)/float64(int64(1)<<n)), 0, true
}

// AgainstFigures returns the rows of evaluation.parquet that compare the tally's decision with another one, or none if they were
// not compared.
func AgainstFigures(t *Tally, other model.Decision) []modelio.EvaluationRow {
	c := t.Against
	if c.Documents() == 0 {
		return nil
	}
	f := figures{tally: t}
	p, statistic, exact := c.McNemar()
	f.add(AgainstAccuracy, "", float64(c.Both+c.OnlyOther)/float64(c.Documents()))
	f.add(AgainstK, "", float64(other.K))
	f.add(AgainstSmoothing, "", other.Smoothing)
	f.add(McNemarOnlyModel, "", float64(c.Only))
	f.add(McNemarOnlyAgainst, "", float64(c.OnlyOther))
	f.add(McNemarP, "", p)
	if !exact {
		f.add(McNemarStatistic, "", statistic)
	}
	slices.SortFunc(f.rows, modelio.EvaluationRow.Compare)
	return f.rows
}

// Pair returns the index of the decision of another model to compare d with: its only one, or one with the same k and smoothing,
// if possible of the same problem. It returns -1 if there is none.
func Pair(d model.Decision, others []model.Decision) int {
	if len(others) == 1 {
		return 0
	}
	best := -1
	for i, o := range others {
		if o.K == d.K && o.Smoothing == d.Smoothing && (best < 0 || o.Problem == d.Problem) {
			best = i
		}
	}
	return best
}
