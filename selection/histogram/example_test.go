package histogram_test

import (
	"fmt"
	"log"

	"github.com/sparsenb/sparsenb/selection/histogram"
)

// Two of three features have the same counts, so the solver sees two entries.
func Example() {
	h := histogram.New()
	h.AddPresent([]int32{0, 1}, []float64{3, 1})
	h.AddPresent([]int32{0, 1}, []float64{0, 2})
	h.AddPresent([]int32{0, 1}, []float64{3, 1})
	h.Pack(1<<20, func(piece []byte) {
		err := histogram.Unpack(piece, 2, func(e histogram.Entry) error {
			fmt.Printf("%d features with counts %v in classes %v\n", e.Size, e.Counts, e.Classes)
			return nil
		})
		if err != nil {
			log.Fatal(err)
		}
	})
	// Unordered output:
	// 2 features with counts [3 1] in classes [0 1]
	// 1 features with counts [2] in classes [1]
}
