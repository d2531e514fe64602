package fileio_test

import (
	"testing"

	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/fileio/storetest"
)

func TestStore(t *testing.T) {
	s, err := fileio.For("")
	if err != nil {
		t.Fatal(err)
	}
	storetest.Run(t, s, t.TempDir(), 0, 1, 1_000_000)
}
