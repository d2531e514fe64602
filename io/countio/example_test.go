package countio_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/io/countio"
)

// A part is written, and its features are read one by one.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "countio")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)

	labels := []string{"Hamilton", "Madison"}
	w, err := countio.CreatePart(ctx, dir, 0, 1, labels, nil)
	if err != nil {
		panic(err)
	}
	defer w.Abort() // does nothing after Commit
	key, _ := feature.Hash([]byte("upon"))
	err = w.Add([]byte("upon"), feature.ID(key), []feature.Count{
		{Class: 0, Occurrences: 374, Documents: 51}, {Class: 1, Occurrences: 7, Documents: 3},
	})
	if err != nil {
		panic(err)
	}
	part, err := w.Commit()
	if err != nil {
		panic(err)
	}

	classes := countio.ClassesOf(labels)
	r, err := countio.Source{Dir: dir}.Open(ctx, part.Name, classes)
	if err != nil {
		panic(err)
	}
	defer r.Close()
	for {
		f, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			panic(err)
		}
		name, err := f.Name()
		if err != nil {
			panic(err)
		}
		for i, class := range f.Classes {
			fmt.Printf("%s in %s: %v times, in %v documents\n", name, classes.Labels[class], f.Occurrences[i], f.Documents[i])
		}
	}
	// Output:
	// upon in Hamilton: 374 times, in 51 documents
	// upon in Madison: 7 times, in 3 documents
}

// A custom table is validated: its classes and their totals are known then.
func ExampleValidateTable() {
	dir, err := os.MkdirTemp("", "countio")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "counts.csv")
	if err := os.WriteFile(name, []byte("feature,Hamilton,Madison\nupon,374,7\nwhile,36,0\n"), 0o666); err != nil {
		panic(err)
	}
	table, err := countio.ValidateTable(context.Background(), name, countio.Constraints{})
	if err != nil {
		panic(err)
	}
	for _, class := range table.Classes {
		occurrences, _ := table.Sums.Of(class)
		fmt.Println(class, occurrences)
	}
	// Output:
	// Hamilton 410
	// Madison 7
}
