package transforms

import (
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
)

// Input whose bytes changed on the way is worth another try, whatever is wrong with it: that is not so in the store.
func TestChangedBytesMayPass(t *testing.T) {
	file := corpusio.File{Info: fileio.Info{Name: "gs://b/in", Size: 10, CRC32C: "00000001"}}
	for what, totals := range map[string]Totals{
		"counted":  {Classes: map[string]ClassTotal{"a": {Documents: 1}}},
		"rejected": {},
		"corrupt":  {Corrupt: []corpusio.CorruptError{{File: file.Name}}},
	} {
		totals.Spans = []corpusio.Span{{File: file, Start: 0, End: 4, CRC: 2}, {File: file, Start: 4, End: 10, CRC: 3}}
		totals.normalize()
		v := validateInput(t.Context(), totals, ReconcileParams{Files: 1})
		if v == nil || v.Exit != modelio.ExitFailed || !strings.HasPrefix(v.Message, "gs://b/in: checksum mismatch: ") {
			t.Errorf("%s: %+v", what, v)
		}
	}
}
