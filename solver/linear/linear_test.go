package linear

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/internal/outside"
)

// dense is a problem of testdata/classifiers/sklearn_objectives.py.
type dense struct {
	SVM     bool        `json:"svm"`
	C       float64     `json:"c"`
	Classes int         `json:"classes"`
	Rows    [][]float64 `json:"rows"`
	Class   []int32     `json:"class"`
	Count   []float64   `json:"count"`
}

func (d dense) rows(order []int) *Rows {
	r := NewRows(len(d.Rows[0]), d.Classes)
	for _, i := range order {
		var columns []int32
		var values []float64
		for j, x := range d.Rows[i] {
			if x != 0 {
				columns, values = append(columns, int32(j)), append(values, x)
			}
		}
		r.Add(d.Class[i], d.Count[i], columns, values)
	}
	return r
}

func (d dense) fit(order []int) (Model, error) {
	if d.SVM {
		return SVM(context.Background(), d.rows(order), d.C)
	}
	return Logistic(context.Background(), d.rows(order), d.C)
}

// objective computes the objective of a model in another way: on dense rows, with no care for rounding.
func (d dense) objective(m Model) (sum float64) {
	for row, weights := range m.Weights {
		for _, w := range weights {
			sum += w * w / 2
		}
		if d.SVM {
			sum += m.Intercepts[row] * m.Intercepts[row] / 2
		}
	}
	for i, x := range d.Rows {
		scores := make([]float64, len(m.Weights))
		for row, weights := range m.Weights {
			scores[row] = m.Intercepts[row]
			for j, w := range weights {
				scores[row] += w * x[j]
			}
		}
		switch {
		case d.SVM:
			for row, s := range scores {
				positive, sign := int32(row), -1.0
				if len(scores) == 1 {
					positive = 1
				}
				if d.Class[i] == positive {
					sign = 1
				}
				sum += d.C * d.Count[i] * math.Pow(max(0, 1-sign*s), 2)
			}
		default:
			if len(scores) == 1 {
				scores = []float64{0, scores[0]}
			}
			total := 0.0
			for _, s := range scores {
				total += math.Exp(s)
			}
			sum += d.C * d.Count[i] * (math.Log(total) - scores[d.Class[i]])
		}
	}
	return sum
}

func randomProblem(rng *rand.Rand) dense {
	d := dense{SVM: rng.IntN(2) == 0, C: math.Pow(10, float64(rng.IntN(5)-2)), Classes: []int{2, 2, 3, 5}[rng.IntN(4)]}
	columns, values := 1+rng.IntN(8), 1+rng.IntN(4)
	for i := range 2*d.Classes + rng.IntN(60) {
		x := make([]float64, columns)
		for j := range x {
			if rng.IntN(3) == 0 {
				x[j] = float64(1 + rng.IntN(values))
			}
		}
		switch rng.IntN(10) {
		case 0:
			x[0] = rng.NormFloat64() * 100 // of a matrix
		case 1:
			clear(x)
		}
		if columns > 3 {
			x[3] = 2 // a constant column
		}
		d.Rows, d.Class, d.Count = append(d.Rows, x), append(d.Class, int32(i%d.Classes)), append(d.Count, float64(1+rng.IntN(3)))
		if rng.IntN(3) == 0 { // informative
			x[rng.IntN(columns)] += float64(d.Class[i])
		}
	}
	return d
}

func upTo(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// The objective is that of scikit-learn at its minimum.
func TestObjectivesAreThoseOfScikitLearn(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 4))
	var problems []dense
	for range 60 {
		problems = append(problems, randomProblem(rng))
	}
	input, err := json.Marshal(problems)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(outside.Python(t), "../../testdata/classifiers/sklearn_objectives.py")
	var stderr strings.Builder
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	var best []float64
	if err := json.Unmarshal(out, &best); err != nil {
		t.Fatal(err)
	}
	for i, d := range problems {
		m, err := d.fit(upTo(len(d.Rows)))
		if err != nil {
			t.Errorf("problem %d: %v", i, err)
			continue
		}
		if got := d.objective(m); math.Abs(got-m.Objective) > 1e-9*got {
			t.Errorf("problem %d: the objective is %v, not %v", i, got, m.Objective)
		}
		// scikit-learn does not always reach the minimum.
		if over := (m.Objective - best[i]) / best[i]; over > 1e-9 || over < -1e-4 {
			t.Errorf("problem %d, svm %v, C = %v, %d classes: objective %v, scikit-learn's %v (relative difference %.2g)", i, d.SVM, d.C, d.Classes, m.Objective, best[i], over)
		}
	}
}

// The result has the same bits for rows in any order, and divided among equal rows in any way.
func TestOrderDoesNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 5))
	for range 30 {
		d := randomProblem(rng)
		want, err := d.fit(upTo(len(d.Rows)))
		if err != nil {
			t.Fatal(err)
		}
		divided := d
		for i, n := range d.Count {
			if n > 1 {
				divided.Rows, divided.Class, divided.Count = append(divided.Rows, d.Rows[i]), append(divided.Class, d.Class[i]), append(divided.Count, n-1)
				divided.Count[i] = 1
			}
		}
		got, err := divided.fit(rng.Perm(len(divided.Rows)))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
	}
}

// Problems without much to learn have a solution, too.
func TestDegenerateProblems(t *testing.T) {
	one, two := []float64{1}, []float64{1, 1}
	for name, d := range map[string]dense{
		"all zero":              {Classes: 2, Rows: [][]float64{{0}, {0}, {0}}, Class: []int32{0, 1, 1}},
		"all zero, 3 classes":   {Classes: 3, Rows: [][]float64{{0}, {0}, {0}}, Class: []int32{0, 1, 2}},
		"separable":             {Classes: 2, Rows: [][]float64{{1, 0}, {0, 1}}, Class: []int32{0, 1}},
		"separable, large C":    {Classes: 2, C: 1e9, Rows: [][]float64{{1, 0}, {0, 1}}, Class: []int32{0, 1}},
		"small C":               {Classes: 2, C: 1e-9, Rows: [][]float64{{1, 0}, {0, 1}}, Class: []int32{0, 1}},
		"constant column":       {Classes: 2, Rows: [][]float64{one, one, one}, Class: []int32{0, 1, 1}},
		"two equal columns":     {Classes: 2, Rows: [][]float64{two, {0, 0}, two}, Class: []int32{0, 1, 1}},
		"a class without rows":  {Classes: 3, Rows: [][]float64{one, {0}}, Class: []int32{0, 2}},
		"large values":          {Classes: 2, Rows: [][]float64{{1e8}, {-1e8}, {1}}, Class: []int32{0, 1, 1}},
		"tiny values":           {Classes: 2, Rows: [][]float64{{1e-100}, {-1e-100}}, Class: []int32{0, 1}},
		"large and tiny values": {Classes: 2, Rows: [][]float64{{1e7, 1}, {-1e7, 3}, {5, 1e-20}}, Class: []int32{0, 1, 1}},
		"many equal documents":  {Classes: 2, Rows: [][]float64{{1}, {1}, {0}}, Class: []int32{0, 1, 1}, Count: []float64{1e12, 1, 1e12}},
	} {
		if d.C == 0 {
			d.C = 1
		}
		if d.Count == nil {
			for range d.Rows {
				d.Count = append(d.Count, 1)
			}
		}
		for _, d.SVM = range []bool{false, true} {
			m, err := d.fit(upTo(len(d.Rows)))
			if err != nil {
				t.Errorf("%s, svm %v: %v", name, d.SVM, err)
				continue
			}
			for row, weights := range m.Weights {
				for _, w := range append(weights, m.Intercepts[row]) {
					if math.IsNaN(w) || math.IsInf(w, 0) {
						t.Errorf("%s, svm %v: %+v", name, d.SVM, m)
					}
				}
			}
		}
	}
}

// Values of very different sizes may be too much. Then there is an error, and no wrong model.
func TestImprecision(t *testing.T) {
	for _, x := range []float64{1e20, 1e60, 1e120} {
		for _, svm := range []bool{false, true} {
			d := dense{SVM: svm, C: 1, Classes: 2, Rows: [][]float64{{x, 1}, {-x, 3}, {5, 1 / x}, {x, 2}}, Class: []int32{0, 1, 1, 1}, Count: []float64{1, 1, 1, 1}}
			m, err := d.fit(upTo(4))
			t.Logf("%v, %v", m, err)
			if err != nil && !errors.Is(err, ErrNotConverged) || err == nil && math.IsNaN(m.Objective) {
				t.Errorf("%v: %+v, %v", x, m, err)
			}
		}
	}
}

func TestCancelled(t *testing.T) {
	d := randomProblem(rand.New(rand.NewPCG(1, 1)))
	cause := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	for _, fit := range []func(context.Context, *Rows, float64) (Model, error){Logistic, SVM} {
		if _, err := fit(ctx, d.rows(upTo(len(d.Rows))), 1); !errors.Is(err, cause) {
			t.Errorf("%v", err)
		}
	}
}

func TestErrors(t *testing.T) {
	for name, c := range map[string]struct {
		d    dense
		want error
	}{
		"one class":             {dense{Classes: 2, Rows: [][]float64{{1}, {2}}, Class: []int32{1, 1}, Count: []float64{1, 1}}, ErrClasses},
		"documents of weight 0": {dense{Classes: 2, Rows: [][]float64{{1}, {2}}, Class: []int32{0, 1}, Count: []float64{0, 1}}, ErrClasses},
		"infinite":              {dense{Classes: 2, Rows: [][]float64{{1}, {math.Inf(1)}}, Class: []int32{0, 1}, Count: []float64{1, 1}}, ErrValues},
		"not a number":          {dense{Classes: 2, Rows: [][]float64{{1}, {math.NaN()}}, Class: []int32{0, 1}, Count: []float64{1, 1}}, ErrValues},
		"too large":             {dense{Classes: 2, Rows: [][]float64{{1}, {1e200}}, Class: []int32{0, 1}, Count: []float64{1, 1}}, ErrValues},
	} {
		for _, c.d.SVM = range []bool{false, true} {
			c.d.C = 1
			if _, err := c.d.fit(upTo(len(c.d.Rows))); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
		}
	}
}
