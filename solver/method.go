package solver

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Method is how features are selected. All but NFS are common rankings of features one by one; of their support only the
// distance from the bound is known.
type Method string

const (
	// NFS is naive feature selection: the support of maximum likelihood.
	NFS Method = "nfs"
	// TMNB thresholds the model of all features: |log θ⁺ - log θ⁻|.
	TMNB Method = "tmnb"
	// OddsRatio is the absolute log odds ratio of θ⁺ and θ⁻.
	OddsRatio Method = "odds_ratio"
	// Chi2 is scikit-learn's chi2: Pearson's statistic of the counts in the two classes against those expected from the
	// classes' shares of the documents.
	Chi2 Method = "chi2"
	// MutualInformation is that of the class and the presence of the feature in a token (Bernoulli: document), in nats.
	MutualInformation Method = "mutual_information"
	// Frequency is f⁺ + f⁻.
	Frequency Method = "frequency"
)

// String returns the name; the zero value is NFS.
func (m Method) String() string { return string(cmp.Or(m, NFS)) }

// rankings has the statistic of every method, nil for NFS. All lists of methods are made from it.
var rankings = []struct {
	method    Method
	statistic func(s Statistic, positive, negative float64) float64
}{
	{NFS, nil},
	{TMNB, Statistic.tmnb},
	{OddsRatio, Statistic.oddsRatio},
	{Chi2, Statistic.chi2},
	{MutualInformation, Statistic.mutualInformation},
	{Frequency, Statistic.frequency},
}

// Methods lists all methods.
var Methods = methods()

func methods() (all []Method) {
	for _, r := range rankings {
		all = append(all, r.method)
	}
	return all
}

// ParseMethod reads the name of a method.
func ParseMethod(name string) (Method, error) {
	if m := Method(name); slices.Contains(Methods, m) {
		return m, nil
	}
	var names []string
	for _, m := range Methods {
		names = append(names, string(m))
	}
	return "", fmt.Errorf("unknown method %q: must be one of %s", name, strings.Join(names, ", "))
}

// Statistic computes the number by which a method ranks features. It needs only sums over all features.
type Statistic struct {
	Method             Method
	Model              Model
	Smoothing          float64
	Positive, Negative float64 // smoothed masses of the classes; Bernoulli: the documents
	// ShareOfDocuments is n₊/n, which chi2 expects of every feature.
	ShareOfDocuments float64
}

// Statistic returns the statistic of the problem's method, or nil for NFS.
func (p Problem) Statistic() *Statistic {
	if p.Method.String() == string(NFS) {
		return nil
	}
	s := &Statistic{Method: p.Method, Model: p.Model, Smoothing: p.Smoothing}
	if n := p.DocumentsPositive + p.DocumentsNegative; n > 0 {
		s.ShareOfDocuments = p.DocumentsPositive / n
	}
	if p.Model == Bernoulli {
		s.Positive, s.Negative = p.DocumentsPositive+2*p.Smoothing, p.DocumentsNegative+2*p.Smoothing
		return s
	}
	s.Positive, s.Negative = p.masses()
	return s
}

// largest replaces an infinite statistic, which a count of 0 without smoothing may have.
const largest = 1e300

// Of returns the statistic of a feature with the given counts, before smoothing.
func (s Statistic) Of(positive, negative float64) float64 {
	for _, r := range rankings {
		if r.method == s.Method && r.statistic != nil {
			return min(r.statistic(s, positive, negative), largest)
		}
	}
	panic("solver.Statistic.Of: the method " + s.Method.String() + " ranks by nothing") // Validate refuses it
}

// thetas returns θ⁺ and θ⁻ in the model of all features, and whether they are defined and differ.
func (s Statistic) thetas(positive, negative float64) (x, y float64, ok bool) {
	a, b := positive+s.Smoothing, negative+s.Smoothing
	x, y = a/s.Positive, b/s.Negative
	return x, y, x != y && (a > 0 || b > 0) && s.Positive > 0 && s.Negative > 0
}

func (s Statistic) tmnb(positive, negative float64) float64 {
	x, y, ok := s.thetas(positive, negative)
	if !ok {
		return 0
	}
	return math.Abs(math.Log(x) - math.Log(y))
}

func (s Statistic) oddsRatio(positive, negative float64) float64 {
	x, y, ok := s.thetas(positive, negative)
	if !ok {
		return 0
	}
	return math.Abs(math.Log(x) - math.Log1p(-x) - math.Log(y) + math.Log1p(-y))
}

func (s Statistic) chi2(positive, negative float64) float64 {
	g := positive + negative
	d := positive - s.ShareOfDocuments*g // the negative class differs by as much
	if g == 0 {
		return 0
	}
	return d * d / (s.ShareOfDocuments * (1 - s.ShareOfDocuments) * g)
}

func (s Statistic) mutualInformation(positive, negative float64) float64 {
	a, b := positive+s.Smoothing, negative+s.Smoothing
	alpha, beta := odds(s.Positive / s.Negative).shares()
	return (divergence(a, b, alpha, beta) + divergence(max(0, s.Positive-a), max(0, s.Negative-b), alpha, beta)) / (s.Positive + s.Negative)
}

func (s Statistic) frequency(positive, negative float64) float64 { return positive + negative }

// heuristic selects the features with the largest statistic, and bounds the gain of the best support of as many features.
type heuristic struct {
	path
	problem Problem
	groups  []Group // smoothed
	ranking *ranking
}

func newHeuristic(p Problem, bounds path, s Statistic) *heuristic {
	h := &heuristic{bounds, p, smoothed(p), newRanking(p.Groups, Settings{})}
	h.ranking.scores = h.ranking.buffer()
	for i, g := range p.Groups {
		h.ranking.scores[i] = s.Of(g.Positive, g.Negative)
	}
	return h
}

func (h *heuristic) solve(k int64) Result {
	r := h.path.solve(k) // for the bound
	if k == 0 {
		return r
	}
	t := h.ranking.top(k)
	r.Take, r.Certificate, r.Nodes = h.ranking.take(t), Heuristic, 0
	r.Parameters = parametersOf(h.problem, h.groups, r.Take)
	r.Gain = r.Parameters.gain(h.problem.Groups, r.Take)
	r.UpperBound = max(r.UpperBound, r.Gain)
	r.Gap = r.UpperBound - r.Gain
	return r
}
