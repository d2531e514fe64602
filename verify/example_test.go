package verify_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/verify"
)

// A folder without a published run is an error with an exit code. Of a published run, Run returns what it has verified: a line of
// text for the files, the totals, each model, the path, and the names of buckets.
func ExampleRun() {
	dir, err := os.MkdirTemp("", "verify")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)

	findings, err := verify.Run(context.Background(), dir)
	var failed *modelio.Error
	if errors.As(err, &failed) {
		fmt.Println(len(findings), "findings, exit code", failed.Exit)
		fmt.Println(strings.TrimPrefix(failed.Error(), dir+": "))
	}
	// Output:
	// 0 findings, exit code 3
	// there is no _SUCCESS: the run is not complete
}
