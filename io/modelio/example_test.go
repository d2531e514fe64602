package modelio_test

import (
	"context"
	"fmt"
	"os"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
)

// A run claims its output folder, writes a table and publishes it. Another run cannot claim the folder then.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "modelio")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)

	run := modelio.Run{ID: "2026-01-01", Fingerprint: "a1b2", Verb: "select"}
	if err := modelio.Claim(ctx, dir, run); err != nil {
		panic(err)
	}
	guard := modelio.NewGuard(dir, run)
	path, err := modelio.WriteTable(ctx, guard, modelio.PathFile, []modelio.PathRow{{Problem: "Hamilton", K: 10, Gain: 413.29}})
	if err != nil {
		panic(err)
	}
	if err := modelio.Publish(ctx, dir, modelio.Manifest{Run: run, Files: []tableio.FileSum{path}}); err != nil {
		panic(err)
	}

	m, err := modelio.ReadManifest(ctx, dir)
	if err != nil {
		panic(err)
	}
	fmt.Println(m.ID, m.Files[0].Name, m.Files[0].Rows)
	err = modelio.Claim(ctx, dir, modelio.Run{ID: "2026-01-02", Fingerprint: "c3d4"})
	fmt.Printf("%T\n", err)
	// Output:
	// 2026-01-01 path.parquet 1
	// *modelio.TakenError
}
