package tableio_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sparsenb/sparsenb/io/tableio"
)

// A table is written, checked and read again.
func Example() {
	type Row struct {
		Word  string `parquet:"word"`
		Count int64  `parquet:"count"`
	}
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "tableio")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)

	w, err := tableio.Create[Row](ctx, dir, "words.parquet", nil)
	if err != nil {
		panic(err)
	}
	defer w.Abort() // does nothing after Commit
	for _, row := range []Row{{"upon", 374}, {"whilst", 12}} {
		if err := w.Write(row); err != nil {
			panic(err)
		}
	}
	written, err := w.Commit()
	if err != nil {
		panic(err)
	}

	name := filepath.Join(dir, written.Name)
	found, err := tableio.Checksum(ctx, name)
	if err != nil {
		panic(err)
	}
	fmt.Println(written.Rows, "rows, checksum as written:", found.SHA256 == written.SHA256)
	err = tableio.Read(ctx, name, func(row *Row) error {
		fmt.Println(row.Word, row.Count)
		return nil
	})
	if err != nil {
		panic(err)
	}
	// Output:
	// 2 rows, checksum as written: true
	// upon 374
	// whilst 12
}
