// Package golden reads the reference vectors in testdata/golden for tests. The README there documents their schema.
package golden

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// Instance is one file: a problem and its answers for several k.
type Instance struct {
	ID             string   `json:"id"`
	Model          string   `json:"model"`
	Smoothing      Number   `json:"smoothing"`
	NPlus          Number   `json:"n_plus"`
	NMinus         Number   `json:"n_minus"`
	FPlus          []Number `json:"fplus"`
	FMinus         []Number `json:"fminus"`
	C              Number   `json:"C"`
	VSum           Number   `json:"v_sum"`
	Scores         []Number `json:"scores"`
	Results        []Result `json:"results"`
	Tol            Tol      `json:"tol"`
	K              int64    `json:"k"` // of errors.json
	PositiveCounts []float64
	NegativeCounts []float64
}

// Result is the answer for one k.
type Result struct {
	K              int64    `json:"k"`
	PsiGain        Number   `json:"psi_gain"`
	Alpha          Number   `json:"alpha"`
	AlphaUnique    bool     `json:"alpha_unique"`
	BestCutGain    Number   `json:"best_cut_gain"`
	PhiGain        Number   `json:"phi_gain"`
	PhiProof       string   `json:"phi_proof"`
	PhiSupports    [][]int  `json:"phi_supports"`
	NPhiSupports   int      `json:"n_phi_supports"`
	Gain           Number   `json:"gain"` // Bernoulli
	Opt            Number   `json:"opt"`
	Sure           []int    `json:"sure"`
	Tied           []int    `json:"tied"`
	Need           int      `json:"need"`
	Support        []int    `json:"support"`
	ThetaPlus      []Number `json:"theta_plus"`
	ThetaMinus     []Number `json:"theta_minus"`
	Weights        []Number `json:"weights"`
	SupportThetaP  []Number `json:"support_theta_plus"`
	SupportThetaM  []Number `json:"support_theta_minus"`
	SupportWeights []Number `json:"support_weights"`
	Intercept      Number   `json:"intercept"`
}

// Proven reports whether PhiGain is the exact optimum.
func (r Result) Proven() bool {
	switch r.PhiProof {
	case "brute", "core", "analytic", "degenerate":
		return true
	}
	return false
}

// Tol holds the tolerances: a gain may differ by RelGain·gain + AbsGain, α by RelAlpha·min(α, 1-α).
type Tol struct {
	RelGain   float64 `json:"rel_gain"`
	AbsGain   float64 `json:"abs_gain"`
	RelAlpha  float64 `json:"rel_alpha"`
	RelTheta  float64 `json:"rel_theta"`
	RelWeight float64 `json:"rel_weight"`
}

// Number is a float64 that may be written as "Inf", "-Inf" or "NaN".
type Number float64

// UnmarshalJSON reads a number or the name of one that is not finite.
func (n *Number) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case `"Inf"`:
		*n = Number(math.Inf(1))
	case `"-Inf"`:
		*n = Number(math.Inf(-1))
	case `"NaN"`, "null":
		*n = Number(math.NaN())
	default:
		var f float64
		if err := json.Unmarshal(b, &f); err != nil {
			return err
		}
		*n = Number(f)
	}
	return nil
}

// Floats converts numbers.
func Floats(numbers []Number) []float64 {
	out := make([]float64, len(numbers))
	for i, n := range numbers {
		out[i] = float64(n)
	}
	return out
}

// Load reads every instance in dir whose file name starts with the prefix ("mnb_", "bnb_").
func Load(dir, prefix string) ([]Instance, error) {
	names, err := filepath.Glob(filepath.Join(dir, prefix+"*.json"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no golden vectors %s* in %s", prefix, dir)
	}
	instances := make([]Instance, len(names))
	for i, name := range names {
		if err := load(name, &instances[i]); err != nil {
			return nil, err
		}
		instances[i].ID = strings.TrimSuffix(filepath.Base(name), ".json")
		instances[i].PositiveCounts = Floats(instances[i].FPlus)
		instances[i].NegativeCounts = Floats(instances[i].FMinus)
	}
	return instances, nil
}

// LoadErrors reads errors.json, problems that must be refused.
func LoadErrors(dir string) ([]Instance, error) {
	var file struct{ Cases []Instance }
	if err := load(filepath.Join(dir, "errors.json"), &file); err != nil {
		return nil, err
	}
	for i := range file.Cases {
		file.Cases[i].PositiveCounts = Floats(file.Cases[i].FPlus)
		file.Cases[i].NegativeCounts = Floats(file.Cases[i].FMinus)
	}
	return file.Cases, nil
}

// Multiclass is a case of multiclass.json: counts of several classes, and the answers of the problems between two sides.
type Multiclass struct {
	ID          string       `json:"id"`
	Strategy    string       `json:"strategy"` // ovr or ovo
	Smoothing   float64      `json:"smoothing"`
	Counts      [][]float64  `json:"F"` // a row for each class
	Documents   []float64    `json:"n"` // by class
	K           int64        `json:"k"`
	Subproblems []Subproblem `json:"subproblems"`
}

// Subproblem is one class against the rest, or against another.
type Subproblem struct {
	Classes   []int    `json:"classes"`
	PsiGain   float64  `json:"psi_gain"`
	PhiGain   float64  `json:"phi_gain"`
	Supports  int      `json:"n_phi_supports"`
	Support   []int    `json:"support"`
	Weights   []Number `json:"weights"`
	Intercept float64  `json:"intercept"`
}

// LoadMulticlass reads multiclass.json.
func LoadMulticlass(dir string) ([]Multiclass, Tol, error) {
	var file struct {
		Cases []Multiclass
		Tol   Tol
	}
	err := load(filepath.Join(dir, "multiclass.json"), &file)
	return file.Cases, file.Tol, err
}

func load(name string, into any) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
