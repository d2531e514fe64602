package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/transforms/kernel"
	"github.com/sparsenb/sparsenb/verify"
)

// older turns a run into one of format 2, whose manifest lacks the format of the tables.
func older(t testing.TB, dir string) {
	t.Helper()
	var manifest map[string]any
	if err := json.Unmarshal([]byte(readFile(t, filepath.Join(dir, modelio.ManifestFile))), &manifest); err != nil {
		t.Fatal(err)
	}
	delete(manifest, "table_format_version")
	content, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256(content)
	success, err := json.Marshal(modelio.Success{Run: manifest["run_id"].(string), Fingerprint: manifest["fingerprint"].(string), ManifestSHA256: hex.EncodeToString(hash[:])})
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{modelio.ManifestFile: content, modelio.SuccessFile: success} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// Selecting from counts with ids of another hash writes ids of the current hash. Here narrow keys make the other ids.
func TestCountsOfAnOlderFormat(t *testing.T) {
	sel := choose(t, "Hamilton", "1", "10")
	d := documents(t, federalist)
	full, old := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "out")
	if err := runTrain(t, full, d, sel); err != nil {
		t.Fatal(err)
	}
	restore := kernel.NarrowKeys(8)
	err := runTrain(t, old, d, sel)
	restore()
	if err != nil {
		t.Fatal(err)
	}
	older(t, old)
	selected := filepath.Join(t.TempDir(), "out")
	if err := runSelect(t, selected, old, nil, sel); err != nil {
		t.Fatal(err)
	}
	if want, got := read(t, full).Features, read(t, selected).Features; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, dir := range []string{full, old, selected} {
		if checks, err := verify.Run(t.Context(), dir); err != nil {
			t.Errorf("%q, %v", checks, err)
		}
	}
	older(t, selected) // by the program that made the counts, too
	if checks, err := verify.Run(t.Context(), selected); err != nil {
		t.Errorf("%q, %v", checks, err)
	}

	// With another hash, a bucket contains other names.
	d = documents(t, federalist)
	d.HashBits = 9
	buckets := filepath.Join(t.TempDir(), "out")
	if err := runTrain(t, buckets, d, sel); err != nil {
		t.Fatal(err)
	}
	if _, err := selection.FindCounts(t.Context(), buckets, nil, sel); err != nil {
		t.Error(err)
	}
	older(t, buckets)
	_, err = selection.FindCounts(t.Context(), buckets, nil, sel)
	if exitOf(err) != modelio.ExitUsage {
		t.Errorf("exit %d, %v", exitOf(err), err)
	}
	contains(t, err, buckets, "buckets of an older hash", "count the documents again")
	if checks, err := verify.Run(t.Context(), buckets); err != nil {
		t.Errorf("%q, %v", checks, err)
	}
}
