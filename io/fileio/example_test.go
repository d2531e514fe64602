package fileio_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"

	"github.com/sparsenb/sparsenb/io/fileio"
)

// Of several writers of a file that must be absent one succeeds. The same code works with gs:// names.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	name := fileio.Join(dir, "out", "_SUCCESS")
	if err := fileio.WriteAll(ctx, name, []byte("first"), fileio.Condition{Absent: true}); err != nil {
		log.Fatal(err)
	}
	err = fileio.WriteAll(ctx, name, []byte("second"), fileio.Condition{Absent: true})
	fmt.Println("the second writer fails:", errors.Is(err, fs.ErrExist))
	content, err := fileio.ReadAll(ctx, name, 1<<20)
	fmt.Printf("%s, %v\n", content, err)
	// Output:
	// the second writer fails: true
	// first, <nil>
}
