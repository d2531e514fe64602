package block_test

import (
	"fmt"
	"log"
	"math"

	"github.com/sparsenb/sparsenb/transforms/block"
)

// Two workers have counted different documents. Their blocks name classes by ID; whoever merges them knows the labels.
func Example() {
	pack := func(name string, counts ...block.Count) (packed []byte) {
		w := block.Writer{
			Limit:   math.MaxInt,
			Classes: []block.ClassID{block.IDOf("Hamilton"), block.IDOf("Madison")},
			Emit:    func(b []byte) error { packed = b; return nil },
		}
		if err := w.Add(&block.Feature{Key: block.FullKeys([]byte(name)), Name: []byte(name), Counts: counts}); err != nil {
			log.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			log.Fatal(err)
		}
		return packed
	}
	first := pack("upon", block.Count{Class: 0, Occurrences: 300, Documents: 40}, block.Count{Class: 1, Occurrences: 7, Documents: 3})
	second := pack("upon", block.Count{Class: 0, Occurrences: 74, Documents: 11})

	classes, err := block.NewClasses([]string{"Hamilton", "Madison"})
	if err != nil {
		log.Fatal(err)
	}
	sources, err := block.OpenAll(block.FullKeys, classes, [][]byte{first, second})
	if err != nil {
		log.Fatal(err)
	}
	err = block.MergeSources(sources, len(classes.Labels), func(f *block.Feature) error {
		for _, c := range f.Counts {
			fmt.Printf("%s in %s: %d times, in %d documents\n", f.Name, classes.Labels[c.Class], c.Occurrences, c.Documents)
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// upon in Hamilton: 374 times, in 51 documents
	// upon in Madison: 7 times, in 3 documents
}
