package solver

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/sparsenb/sparsenb/solver/internal/numeric"
)

// Model is the naive Bayes model whose likelihood is maximized.
type Model int

const (
	// Multinomial counts how often a feature occurs in a class.
	Multinomial Model = iota
	// Bernoulli counts in how many documents of a class a feature occurs.
	Bernoulli
)

// String returns the model's name as flags and files spell it.
func (m Model) String() string {
	if m == Bernoulli {
		return "bernoulli"
	}
	return "multinomial"
}

// ParseModel is the inverse of [Model.String].
func ParseModel(name string) (Model, error) {
	switch name {
	case "multinomial":
		return Multinomial, nil
	case "bernoulli":
		return Bernoulli, nil
	}
	return 0, fmt.Errorf("unknown model %q: must be multinomial or bernoulli", name)
}

// Group is a set of Size features with the counts f⁺ = Positive and f⁻ = Negative, before smoothing. So many features of
// text have equal counts that the solver works on groups instead of features.
type Group struct {
	Positive, Negative float64
	Size               int64
}

// Problem is one selection. Give the groups in the order of [CompareGroups]: the order decides ties, and the same groups in
// the same order have the same answer to the last bit.
type Problem struct {
	Groups []Group
	Model  Model
	Method Method // NFS if it is empty

	// K is the number of features to select; if there are fewer, all are selected.
	K int64

	// Smoothing is added to every count (scikit-learn's alpha); the Bernoulli model adds twice as much to the
	// numbers of documents.
	Smoothing float64

	// DocumentsPositive and DocumentsNegative are n₊ and n₋. Only the Bernoulli model needs them.
	DocumentsPositive, DocumentsNegative float64
}

// Settings limits the work. The zero value means the defaults.
type Settings struct {
	// Tolerance is the relative distance between the bounds on ψ(k)-C at which the dual search stops.
	// The default is 1e-13.
	Tolerance float64

	// MaxEvaluations limits the evaluations of s_k(h(α)) in one dual search. The default is 200; most
	// searches take 3 to 30.
	MaxEvaluations int

	// MaxNodes limits the enumeration that proves a support optimal. The default is 200,000.
	MaxNodes int

	// The numbers of groups from which evaluations are screened and the ranking is narrowed.
	screenFrom, narrowFrom int

	boundOnly bool // search no support
}

// WithDefaults returns the settings with the defaults in place of zeros.
func (s Settings) WithDefaults() Settings {
	if s.Tolerance == 0 {
		s.Tolerance = 1e-13
	}
	if s.MaxEvaluations == 0 {
		s.MaxEvaluations = 200
	}
	if s.MaxNodes == 0 {
		s.MaxNodes = 200_000
	}
	if s.screenFrom == 0 {
		s.screenFrom, s.narrowFrom = 1<<14, 1<<8
	}
	return s
}

// Certificate is what is known about the distance of a support from the optimum.
type Certificate int

const (
	// Bounded means that only the gap to the upper bound is known.
	Bounded Certificate = iota
	// Optimal means that no other support of k features gains more, to a relative 1e-12.
	Optimal
	// Heuristic means that another method chose the support, which proves nothing.
	Heuristic
)

// String returns the certificate's name as files spell it.
func (c Certificate) String() string {
	return [...]string{"bounded", "optimal", "heuristic"}[c]
}

// Status is how the search for ψ(k) ended.
type Status int

const (
	// Closed: the answer has a closed form; there was no search.
	Closed Status = iota
	// Smooth: the minimizer of the bound is the support's own α_J, so the bound is attained.
	Smooth
	// Kink: two supports tie at the minimizer, so the bound may be above φ(k).
	Kink
	// Resolution: the bracket shrank to neighboring numbers; the bound is exact up to rounding.
	Resolution
	// Stopped: the limit on evaluations was reached; the bound holds, but is not minimal.
	Stopped
)

// String returns the status as a word.
func (s Status) String() string {
	return [...]string{"closed", "smooth", "kink", "resolution", "stopped"}[s]
}

// Outcome is a support and what is known of it, for two classes or several.
type Outcome struct {
	// K is the number of selected features: the K of the problem, or all features if there are fewer.
	K int64

	// Take[i] is how many features of group (or vector) i are selected; they sum to K.
	Take []int64

	// Base is C = φ(0), the log-likelihood without any selected feature (Bernoulli: 1ᵀv).
	Base float64

	// UpperBound is ψ(k)-C, Gain is D(J), the gain of the support over Base, and Gap is their difference, never
	// negative. All are in nats.
	UpperBound, Gain, Gap float64

	Certificate Certificate
	Status      Status

	// Evaluations counts the evaluations of s_k(h(α)), Nodes the steps of the enumeration.
	Evaluations, Nodes int
}

// Check returns an error if the outcome violates what holds for every outcome, so that rounding never becomes a
// certificate.
func (o Outcome) Check() error {
	var size int64
	for _, n := range o.Take {
		size += n
	}
	if size != o.K || !(o.Gain >= 0 && o.Gain <= o.UpperBound && o.UpperBound <= math.MaxFloat64) {
		return fmt.Errorf("these counts exceed double precision (a support of %d for k = %d, gain %v, bound %v)", size, o.K, o.Gain, o.UpperBound)
	}
	return nil
}

// Result is the answer to a [Problem].
type Result struct {
	Outcome

	// Alpha is the α at which UpperBound was evaluated, and Odds is α/(1-α), precise at both ends.
	// The Bernoulli model has α = n₊/n.
	Alpha, Odds float64

	// Passes counts the evaluations that scored all groups.
	Passes int

	// Parameters gives the score, the θ and the weight of a feature of the support.
	Parameters Parameters
}

// The errors of a problem without features, or without counts and smoothing.
var (
	ErrNoFeatures = errors.New("there are no features")
	ErrNoMass     = errors.New("all counts are zero")
)

// Counts and smoothings are zero or from Least to Most, so products and quotients of two stay in the range of a float64.
const (
	Least = 1e-100
	Most  = 1e100
)

var errRange = fmt.Errorf("counts must be zero or from %g to %g", Least, Most)

// InRange reports whether x can be a count or a smoothing.
func InRange(x float64) bool { return x == 0 || x >= Least && x <= Most }

// Validate returns an error for a problem that has no answer.
func (p Problem) Validate() error {
	switch {
	case p.Model != Multinomial && p.Model != Bernoulli:
		return fmt.Errorf("unknown model %d", int(p.Model))
	case !slices.Contains(methods(), Method(p.Method.String())):
		return fmt.Errorf("unknown method %q", string(p.Method))
	case p.Method == Chi2 && !(p.DocumentsPositive > 0 && p.DocumentsNegative > 0):
		return fmt.Errorf("method %s needs the numbers of documents", p.Method)
	case p.K < 0:
		return fmt.Errorf("k is %d, but must not be negative", p.K)
	case !InRange(p.Smoothing):
		return fmt.Errorf("smoothing is %v, but must be zero or from %g to %g", p.Smoothing, Least, Most)
	case len(p.Groups) == 0:
		return ErrNoFeatures
	}
	var mass float64
	for i, g := range p.Groups {
		if !InRange(g.Positive) || !InRange(g.Negative) {
			return fmt.Errorf("group %d has the counts %v and %v: %w", i, g.Positive, g.Negative, errRange)
		}
		if g.Size < 1 {
			return fmt.Errorf("group %d has %d features, but must have at least one", i, g.Size)
		}
		mass += g.Positive + g.Negative
	}
	if p.Model == Bernoulli {
		return p.validateDocuments()
	}
	if mass == 0 && p.Smoothing == 0 {
		return ErrNoMass
	}
	return nil
}

func (p Problem) validateDocuments() error {
	np, nn := p.DocumentsPositive, p.DocumentsNegative
	if !(np > 0) || !(nn > 0) || math.IsInf(np, 1) || math.IsInf(nn, 1) {
		return fmt.Errorf("the classes have %v and %v documents, but the Bernoulli model needs positive numbers", np, nn)
	}
	for i, g := range p.Groups {
		if g.Positive > np || g.Negative > nn {
			return fmt.Errorf("group %d occurs in %v and %v documents, but the classes have %v and %v", i, g.Positive, g.Negative, np, nn)
		}
	}
	return nil
}

// masses returns the smoothed counts of the classes.
func (p Problem) masses() (positive, negative float64) {
	var a, b numeric.Accumulator
	for _, g := range p.Groups {
		a.Add(float64(g.Size) * (g.Positive + p.Smoothing))
		b.Add(float64(g.Size) * (g.Negative + p.Smoothing))
	}
	return a.Value(), b.Value()
}

// features returns m, the number of features.
func (p Problem) features() int64 {
	var m int64
	for _, g := range p.Groups {
		m += g.Size
	}
	return m
}
