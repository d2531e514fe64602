package objectio_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/objectio"
)

// A client registers its store in an init function. Then all of sparsenb reads and writes names of its scheme. See
// memory_test.go for a client in 120 lines.
func Example() {
	fileio.Register("memory", &objectio.Store{Scheme: "memory", Client: newMemory()})

	ctx := context.Background()
	for _, name := range []string{"memory://bucket/in/a.tsv", "memory://bucket/in/b.tsv"} {
		if err := fileio.WriteAll(ctx, name, []byte("spam\tbuy now\n"), fileio.Condition{Absent: true}); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(fileio.WriteAll(ctx, "memory://bucket/in/a.tsv", nil, fileio.Condition{Absent: true}))
	store, err := fileio.For("memory://bucket")
	if err != nil {
		log.Fatal(err)
	}
	files, err := store.Glob(ctx, "memory://bucket/in/*.tsv")
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range files {
		fmt.Println(f.Name, f.Size, "bytes")
	}
	// Output:
	// memory://bucket/in/a.tsv: file already exists
	// memory://bucket/in/a.tsv 13 bytes
	// memory://bucket/in/b.tsv 13 bytes
}
