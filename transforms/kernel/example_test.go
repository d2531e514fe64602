package kernel_test

import (
	"fmt"
	"github.com/sparsenb/sparsenb/feature"
	"log"

	"github.com/sparsenb/sparsenb/transforms/block"
	"github.com/sparsenb/sparsenb/transforms/kernel"
)

// A counter counts documents until it is full, and is then flushed as sorted blocks.
func Example() {
	c := kernel.NewCounter(kernel.Config{StopWords: [][]byte{[]byte("the")}})
	c.Add([]byte("Hamilton"), []byte("Upon the whole, upon reflection"))
	c.Add([]byte("Madison"), []byte("On the whole"))
	print := func(_ int, b []byte) error { return printBlock(c.Keys(), b) }
	if err := c.Flush(1, 1<<20, false, print); err != nil {
		log.Fatal(err)
	}
	totals := c.TakeTotals()
	fmt.Println(totals.Classes["Hamilton"], totals.Stopped)
	// Unordered output:
	// upon [{0 2 1}]
	// reflection [{0 1 1}]
	// whole [{0 1 1} {1 1 1}]
	// on [{1 1 1}]
	// {1 4 3} 2
}

// Features whose counts are known already are counted without an analyzer.
func ExampleCounter_AddFeatures() {
	c := kernel.NewCounter(kernel.Config{})
	for range 2 {
		err := c.AddFeatures([]byte("Hamilton"), []feature.Value{{Name: []byte("upon"), Value: 187}, {Name: []byte("Cites Hume"), Value: 1}})
		if err != nil {
			log.Fatal(err)
		}
	}
	print := func(_ int, b []byte) error { return printBlock(c.Keys(), b) }
	if err := c.Flush(1, 1<<20, false, print); err != nil {
		log.Fatal(err)
	}
	// Unordered output:
	// upon [{0 374 2}]
	// Cites Hume [{0 2 2}]
}

// printBlock prints the features of a block: for each class its number, the occurrences, and the documents.
func printBlock(keys block.Keys, b []byte) error {
	classes, err := block.NewClasses([]string{"Hamilton", "Madison"})
	if err != nil {
		return err
	}
	r, err := block.Open(b, keys, classes)
	if err != nil {
		return err
	}
	for r.Next() {
		fmt.Printf("%s %v\n", r.Feature().Name, r.Feature().Counts)
	}
	return r.Err()
}

// A document becomes a sparse row of chosen words.
func ExampleColumns() {
	columns, err := kernel.NewColumns(kernel.Config{}, []string{"congress", "upon", "whilst"})
	if err != nil {
		log.Fatal(err)
	}
	row, err := columns.NewVectorizer().Text([]byte("Upon this, upon that: Congress"))
	if err != nil {
		log.Fatal(err)
	}
	for i, column := range row.Columns {
		fmt.Println(columns.Names()[column], row.Values[i])
	}
	// Output:
	// congress 1
	// upon 2
}
