package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/internal/hostile"
	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/verify"
)

// forge replaces a file of a run and updates the checksums.
func forge(t testing.TB, dir, name string, content []byte) {
	t.Helper()
	put := func(name string, content []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	sum := func(b []byte) string {
		hash := sha256.Sum256(b)
		return hex.EncodeToString(hash[:])
	}
	marshal := func(v any) []byte {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	m, err := modelio.ReadManifest(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(m.Files, func(f tableio.FileSum) bool { return f.Name == name })
	m.Files[at].Size, m.Files[at].SHA256 = int64(len(content)), sum(content)
	manifest := marshal(m)
	put(name, content)
	put(modelio.ManifestFile, manifest)
	put(modelio.SuccessFile, marshal(modelio.Success{Run: m.ID, Fingerprint: m.Fingerprint, ManifestSHA256: sum(manifest)}))
}

// harmless checks that reading a run takes little memory, does not panic, and reports an error in one line.
func harmless(t *testing.T, what string, read func() error) error {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := read()
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > hostile.MostMemory {
		t.Errorf("%s: %d MB were taken", what, n>>20)
	}
	if err != nil && strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: %v", what, err)
	}
	return err
}

// small is a run of a few words.
func small(t *testing.T) (dir string, sel selection.Params) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(file, []byte("a\tupon the tree\nb\twhile the tree\na\tupon upon while\nb\tone two\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	d := documents(t, file)
	d.Shards = 2
	dir, sel = filepath.Join(t.TempDir(), "run"), choose(t, "a", "2")
	if err := runTrain(t, dir, d, sel); err != nil {
		t.Fatal(err)
	}
	return dir, sel
}

// A malicious run with matching checksums is refused, and the error names the file.
func TestHostileRuns(t *testing.T) {
	dir, sel := small(t)
	part := countio.PartName(1, 2)
	for _, name := range []string{modelio.FeaturesFile, part} {
		whole, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for what, b := range hostile.Files() {
			forge(t, dir, name, b)
			err := harmless(t, what, func() error {
				_, err := verify.Run(t.Context(), dir)
				return err
			})
			if exitOf(err) != modelio.ExitData || !strings.Contains(err.Error(), filepath.Join(dir, name)+": ") {
				t.Errorf("%s, %s: verify: %v", name, what, err)
			}
			if name == part {
				continue
			}
			err = harmless(t, what, func() error {
				_, err := modelio.Read(t.Context(), dir)
				return err
			})
			if err == nil || !strings.HasPrefix(err.Error(), filepath.Join(dir, name)+": ") {
				t.Errorf("%s: inspect: %v", what, err)
			}
		}
		forge(t, dir, name, whole)
	}
	forge(t, dir, part, hostile.Files()["a run that is too long"])
	err := runSelect(t, filepath.Join(t.TempDir(), "out"), dir, nil, sel)
	if exitOf(err) != modelio.ExitData || !strings.Contains(err.Error(), filepath.Join(dir, part)+": not a readable Parquet file: ") {
		t.Errorf("select: %v", err)
	}
}

// Every byte of a run is compared with its checksum before it is parsed, or is harmless.
func TestEveryByteOfARunChanged(t *testing.T) {
	dir, _ := small(t)
	for _, name := range []string{modelio.FeaturesFile, modelio.ModelFile, modelio.PathFile} {
		file := filepath.Join(dir, name)
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(b); i += 47 {
			flip := []byte{1, 0x80, 0xff}[i%3]
			b[i] ^= flip
			if err := os.WriteFile(file, b, 0o666); err != nil {
				t.Fatal(err)
			}
			if _, err := verify.Run(t.Context(), dir); exitOf(err) != modelio.ExitData || !strings.HasSuffix(err.Error(), name+" differs from the published file") {
				t.Errorf("%s, byte %d: %v", name, i, err)
			}
			err := harmless(t, name, func() error {
				_, err := modelio.Read(t.Context(), dir)
				return err
			})
			if err != nil && !strings.HasPrefix(err.Error(), file+": ") {
				t.Errorf("byte %d: %v", i, err)
			}
			b[i] ^= flip
		}
		if err := os.WriteFile(file, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := verify.Run(t.Context(), dir); err != nil {
		t.Error(err)
	}
}

// A part with a changed byte is damaged data (exit 3); a disk error is a failure.
func TestSelectFromDamagedParts(t *testing.T) {
	dir, sel := small(t)
	part := filepath.Join(dir, countio.PartName(0, 2))
	b, err := os.ReadFile(part)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(b); i += 1 + len(b)/12 {
		changed := slices.Clone(b)
		changed[i] ^= 0x40
		if err := os.WriteFile(part, changed, 0o666); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "out")
		err := runSelect(t, out, dir, nil, sel)
		if exitOf(err) != modelio.ExitData || err.Error() != part+": checksum mismatch: the file has changed since it was published; restore the counts, or count again" {
			t.Errorf("byte %d: %v", i, err)
		}
		checkNothingPublished(t, out)
	}
}

// An input that is neither a table of counts nor the output of a run has its own error.
func TestCountsThatAreNone(t *testing.T) {
	for manifest, want := range map[string]string{
		`{"format_version":1}`: "manifest.json lists no files of counts",
		`{"format_version":1,"files":[{"name":"counts/../../part-1-of-1.parquet"}]}`: "manifest.json lists no files of counts",
		`{"format_version":1,"counts":{"name":"elsewhere"}}`:                         "the run has no counts; use those that it was made from: elsewhere",
	} {
		dir := t.TempDir()
		for name, content := range map[string]string{modelio.ManifestFile: manifest, modelio.SuccessFile: "{}"} {
			if err := fileio.WriteAll(t.Context(), filepath.Join(dir, name), []byte(content), fileio.Condition{}); err != nil {
				t.Fatal(err)
			}
		}
		_, err := selection.FindCounts(t.Context(), dir, nil, selection.Params{Model: solver.Multinomial})
		if exitOf(err) != modelio.ExitUsage || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", manifest, err)
		}
	}
}
