package joint_test

import (
	"fmt"

	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/solver/joint"
)

func ExampleSolve() {
	// How often each word occurs in posts on hockey, space and medicine.
	words := []string{"goal", "orbit", "doctor", "team", "the"}
	counts := [][]float64{{110, 3, 6}, {1, 164, 0}, {2, 4, 121}, {310, 22, 9}, {5210, 6490, 6120}}

	p := joint.Problem{Vectors: solver.NewVectors(3), K: 3, Smoothing: 1}
	for _, f := range counts {
		if err := p.Add([]int32{0, 1, 2}, f, 1); err != nil {
			fmt.Println(err)
			return
		}
	}
	r, err := joint.Solve(p, solver.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, word := range words {
		if r.Take[i] > 0 {
			classes, counts := p.Entries(i)
			fmt.Printf("%s %+.2f\n", word, r.Parameters.Weights(nil, classes, counts))
		}
	}
	fmt.Printf("gain %.1f, %v; the bound is %.1f\n", r.Gain, r.Certificate, r.UpperBound)
	// Output:
	// orbit [-3.72 +1.18 -3.55]
	// doctor [-3.06 -2.06 +1.51]
	// team [+0.61 -1.50 -1.96]
	// gain 484.1, optimal; the bound is 516.0
}

// The bounds limit the gain of every k without a search for supports.
func ExampleBounds() {
	p := joint.Problem{Vectors: solver.NewVectors(3), Smoothing: 1}
	for _, f := range [][]float64{{110, 3, 6}, {1, 164, 0}, {2, 4, 121}, {310, 22, 9}, {5210, 6490, 6120}} {
		if err := p.Add([]int32{0, 1, 2}, f, 1); err != nil {
			fmt.Println(err)
			return
		}
	}
	bounds, err := joint.Bounds(p, []int64{1, 2, 3, 4, 5}, solver.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f\n", bounds)
	// Output:
	// [220.4 390.9 516.0 607.7 642.8]
}
