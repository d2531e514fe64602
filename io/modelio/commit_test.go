package modelio

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/fileio"
)

func run(id, fingerprint string) Run { return Run{ID: id, Fingerprint: fingerprint, Verb: "train"} }

// write puts a part and a table into the folder, whose bytes are those of the run's fingerprint, and returns a manifest
// that lists them.
func write(ctx context.Context, dir string, r Run) (m Manifest, err error) {
	return writeOf(ctx, dir, r, 1)
}

// writeOf writes the first of n parts.
func writeOf(ctx context.Context, dir string, r Run, parts int) (m Manifest, err error) {
	m.Run = r
	guard := NewGuard(dir, r)
	part, err := countio.CreatePart(ctx, dir, 0, parts, []string{r.Fingerprint}, guard.Check)
	if err != nil {
		return m, err
	}
	defer part.Abort()
	if err := part.Add([]byte("upon"), 1, []feature.Count{{Occurrences: 1, Documents: 1}}); err != nil {
		return m, err
	}
	sum, err := part.Commit()
	if err != nil {
		return m, err
	}
	m.Files = append(m.Files, sum)
	sum, err = WriteTable(ctx, guard, PathFile, []PathRow{{Problem: r.Fingerprint, K: 1}})
	m.Files = append(m.Files, sum)
	return m, err
}

func written(t *testing.T, dir string, r Run) Manifest {
	t.Helper()
	m, err := write(t.Context(), dir, r)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// published claims, writes and publishes.
func published(t *testing.T, dir string, r Run) {
	t.Helper()
	if err := Claim(t.Context(), dir, r); err != nil {
		t.Fatal(err)
	}
	if err := Publish(t.Context(), dir, written(t, dir, r)); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, strings.TrimPrefix(name, dir+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestPublish(t *testing.T) {
	dir := t.TempDir()
	a := run("a", "same")
	if err := Claim(t.Context(), dir, a); err != nil {
		t.Fatal(err)
	}
	m := written(t, dir, a)
	if err := Publish(t.Context(), dir, m); err != nil {
		t.Fatal(err)
	}
	want := []string{"_SUCCESS", "counts/part-00000-of-00001.parquet", "manifest.json", "path.parquet"}
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("the folder holds %v, want %v", got, want)
	}
	state, err := ReadState(t.Context(), dir)
	if err != nil || state.Success == nil || state.Success.Run != "a" || state.Started != nil || state.Foreign != "" {
		t.Errorf("%+v, %v", state, err)
	}
	got, err := ReadManifest(t.Context(), dir)
	if err != nil || got.ID != "a" || !slices.Equal(got.Files, m.Files) {
		t.Errorf("%+v, %v", got, err)
	}
	// A second attempt at the same run, and the same run started again, do not change it.
	for _, id := range []string{"a", "b"} {
		again := run(id, "same")
		if err := Claim(t.Context(), dir, again); err != nil {
			t.Fatal(err)
		}
		if err := Publish(t.Context(), dir, written(t, dir, again)); err != nil {
			t.Fatal(err)
		}
		if state, err := ReadState(t.Context(), dir); err != nil || state.Success.Run != "a" || state.Started != nil {
			t.Errorf("%+v, %v", state, err)
		}
	}
	// Another run finds the folder taken, at any step.
	var taken *TakenError
	if err := Claim(t.Context(), dir, run("c", "other")); !errors.As(err, &taken) || !taken.Published {
		t.Errorf("Claim: %v", err)
	}
	if _, err := write(t.Context(), dir, run("c", "other")); !errors.As(err, &taken) || !taken.Published {
		t.Errorf("writing: %v", err)
	}
	if err := Publish(t.Context(), dir, Manifest{Run: run("c", "other"), Files: m.Files}); !errors.As(err, &taken) || !taken.Published {
		t.Errorf("Publish: %v", err)
	}
}

func TestClaimExcludesOtherRuns(t *testing.T) {
	dir := t.TempDir()
	if err := Claim(t.Context(), dir, run("a", "one")); err != nil {
		t.Fatal(err)
	}
	if err := Claim(t.Context(), dir, run("a2", "one")); err != nil {
		t.Errorf("the same run, started again: %v", err)
	}
	var taken *TakenError
	if err := Claim(t.Context(), dir, run("b", "two")); !errors.As(err, &taken) || taken.Run != "a" || taken.Published {
		t.Errorf("another run: %v", err)
	}
}

// An attempt may be killed after any of its steps; the next one completes the run.
func TestPublishResumes(t *testing.T) {
	r := run("a", "same")
	for _, left := range [][]string{{SuccessFile}, {SuccessFile, ManifestFile}, {SuccessFile, PathFile, ManifestFile}} {
		dir := t.TempDir()
		published(t, dir, r)
		for _, name := range left {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		later := run("b", "same")
		if err := Claim(t.Context(), dir, later); err != nil {
			t.Fatal(err)
		}
		if err := Publish(t.Context(), dir, written(t, dir, later)); err != nil {
			t.Fatal(err)
		}
		if state, err := ReadState(t.Context(), dir); err != nil || state.Success == nil || state.Started != nil {
			t.Errorf("without %v: %+v, %v", left, state, err)
		}
	}
}

func TestPublishNoticesMissingAndOtherFiles(t *testing.T) {
	dir := t.TempDir()
	r := run("a", "same")
	if err := Claim(t.Context(), dir, r); err != nil {
		t.Fatal(err)
	}
	m := written(t, dir, r)
	fewer := m
	fewer.Files = m.Files[1:]
	if err := Publish(t.Context(), dir, fewer); !errors.Is(err, fileio.ErrTaken) || !strings.HasPrefix(err.Error(), dir+"/counts/part-00000-of-00001.parquet: the file belongs to another run: ") {
		t.Errorf("beside the file of another run: %v", err)
	}
	m.Files[0].Size++
	if err := Publish(t.Context(), dir, m); err == nil || !strings.Contains(err.Error(), "bytes") {
		t.Error(err)
	}
	m.Files[0].Name = "absent.parquet"
	if err := Publish(t.Context(), dir, m); err == nil {
		t.Error("a missing file is published")
	}
	// Two attempts at a run wrote different bytes: a bug; nothing is published.
	dir = t.TempDir()
	published(t, dir, r)
	if err := os.Remove(filepath.Join(dir, SuccessFile)); err != nil {
		t.Fatal(err)
	}
	if err := Claim(t.Context(), dir, r); err != nil {
		t.Fatal(err)
	}
	m = written(t, dir, r)
	m.Files[0].SHA256 = "another"
	if err := Publish(t.Context(), dir, m); err == nil || !strings.Contains(err.Error(), "lists files that differ") {
		t.Error(err)
	}
}

func TestRefuseLeavesTheVerdictOnly(t *testing.T) {
	dir := t.TempDir()
	r := run("a", "same")
	if err := Claim(t.Context(), dir, r); err != nil {
		t.Fatal(err)
	}
	written(t, dir, r)
	theirs := filepath.Join(dir, "counts", "notes.txt")
	if err := os.WriteFile(theirs, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	v := Verdict{Run: "a", Exit: 3, Message: "no documents"}
	for range 2 { // also if it is repeated
		if err := Refuse(t.Context(), dir, r, v); err != nil {
			t.Fatal(err)
		}
	}
	if got := names(t, dir); !slices.Equal(got, []string{"counts/notes.txt", VerdictFile}) {
		t.Errorf("left: %v", got)
	}
	state, err := ReadState(t.Context(), dir)
	v.Fingerprint = "same"
	if err != nil || state.Verdict == nil || *state.Verdict != v || state.Foreign != theirs {
		t.Errorf("%+v, %v", state, err)
	}
	// Any run may begin next.
	if err := Claim(t.Context(), dir, run("b", "other")); err != nil {
		t.Error(err)
	}
	if state, err := ReadState(t.Context(), dir); err != nil || state.Verdict != nil {
		t.Errorf("%+v, %v", state, err)
	}
}

// An attempt that was refused may leave files if it is killed. They do not prevent the next run, the same or another.
func TestClaimClearsWhatARefusedRunLeft(t *testing.T) {
	for _, next := range []Run{run("b", "same"), run("c", "other")} {
		dir := t.TempDir()
		for name, content := range map[string]string{
			VerdictFile: `{"run_id": "a", "exit": 1, "message": "changed", "fingerprint": "same"}`,
			PathFile:    "of other bytes", BucketsFile: "x", "counts/part-00000-of-00001.parquet": "x", "counts/part-00000-of-00002.parquet": "x",
			ManifestFile: "{", "counts/.part-00001-of-00002.parquet.0.sparsenb-tmp": "x",
		} {
			if err := fileio.WriteAll(t.Context(), fileio.Join(dir, name), []byte(content), fileio.Condition{}); err != nil {
				t.Fatal(err)
			}
		}
		if state, err := ReadState(t.Context(), dir); err != nil || state.Foreign != "" {
			t.Errorf("%+v, %v", state, err)
		}
		if err := Claim(t.Context(), dir, next); err != nil {
			t.Fatal(err)
		}
		// A verdict on the same run remains until the run has a new result.
		want := []string{StartedFile}
		if next.Fingerprint == "same" {
			want = append(want, VerdictFile)
		}
		if got := names(t, dir); !slices.Equal(got, want) {
			t.Errorf("%s claims %v, want %v", next.ID, got, want)
		}
		if err := Publish(t.Context(), dir, written(t, dir, next)); err != nil {
			t.Error(err)
		}
		want = []string{SuccessFile, "counts/part-00000-of-00001.parquet", ManifestFile, PathFile}
		if got := names(t, dir); !slices.Equal(got, want) {
			t.Errorf("%s publishes %v, want %v", next.ID, got, want)
		}
	}
}

// Every file that a run writes is recognized in a folder.
func TestArtefacts(t *testing.T) {
	for name, want := range map[string]bool{
		FeaturesFile: true, ModelFile: true, PathFile: true, BucketsFile: true, ManifestFile: true, countio.PartName(3, 64): true,
		SuccessFile: false, StartedFile: false, VerdictFile: false, cancelledPrefix + "a": false,
		"thesis.tex": false, "counts/notes.txt": false, "other/part-00000-of-00001.parquet": false,
	} {
		if isArtefact(name) != want || isArtefact(name) && isMark(name) {
			t.Errorf("%s: %v, a mark: %v", name, isArtefact(name), isMark(name))
		}
	}
}

func TestRefuseDoesNotUnpublish(t *testing.T) {
	dir := t.TempDir()
	r := run("a", "same")
	published(t, dir, r)
	before := names(t, dir)
	if err := Refuse(t.Context(), dir, r, Verdict{Run: "b", Exit: 3, Message: "too late"}); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); !slices.Equal(got, before) {
		t.Errorf("left: %v, were %v", got, before)
	}
}

func TestReadManifestExplainsWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadManifest(context.Background(), dir); err == nil || !strings.Contains(err.Error(), "no published run") {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ManifestFile), []byte(`{"format_version": 99}`), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadManifest(context.Background(), dir); err == nil || !strings.Contains(err.Error(), "written by a newer version of sparsenb (manifest format 99); upgrade") {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ManifestFile), []byte(`{"format_version": 1, "table_format_version": "4"}`), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadManifest(context.Background(), dir); err == nil || !strings.Contains(err.Error(), "written by a newer version of sparsenb (table format 4); upgrade") {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ManifestFile), []byte(`{"format_`), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadManifest(context.Background(), dir); err == nil || !strings.Contains(err.Error(), ManifestFile) {
		t.Error(err)
	}
}

// A refused run does not change a folder that now belongs to another run.
func TestRefuseLeavesOthersAlone(t *testing.T) {
	dir := t.TempDir()
	ours, theirs := run("a", "ours"), run("b", "theirs")
	if err := Claim(t.Context(), dir, theirs); err != nil {
		t.Fatal(err)
	}
	m := written(t, dir, theirs)
	before := names(t, dir)
	var taken *TakenError
	if err := Refuse(t.Context(), dir, ours, Verdict{Run: "a", Exit: 3, Message: "late"}); !errors.As(err, &taken) {
		t.Errorf("their claim: %v", err)
	}
	if got := names(t, dir); !slices.Equal(got, before) {
		t.Errorf("left: %v, were %v", got, before)
	}
	if err := Publish(t.Context(), dir, m); err != nil {
		t.Fatal(err)
	}
	before = names(t, dir)
	if err := Refuse(t.Context(), dir, ours, Verdict{Run: "a", Exit: 3, Message: "late"}); !errors.As(err, &taken) || !taken.Published {
		t.Errorf("their model: %v", err)
	}
	if err := Publish(t.Context(), dir, Manifest{Run: ours, Files: m.Files}); !errors.As(err, &taken) && !errors.Is(err, fileio.ErrTaken) {
		t.Errorf("published over another run: %v", err)
	}
	if got := names(t, dir); !slices.Equal(got, before) {
		t.Errorf("left: %v, were %v", got, before)
	}
}

// A claim of a run that is already published leaves no file.
func TestClaimOfAPublishedRun(t *testing.T) {
	dir := t.TempDir()
	r := run("a", "same")
	published(t, dir, r)
	before := names(t, dir)
	if err := Claim(t.Context(), dir, run("b", "same")); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); !slices.Equal(got, before) {
		t.Errorf("left: %v, were %v", got, before)
	}
}

// A job that an engine did not stop does not publish what was cancelled; the next attempt at the same run does.
func TestCancelledRunsAreNotPublished(t *testing.T) {
	dir := t.TempDir()
	r := run("a", "same")
	if err := Claim(t.Context(), dir, r); err != nil {
		t.Fatal(err)
	}
	m := written(t, dir, r)
	if err := Cancel(t.Context(), dir, r, "interrupted"); err != nil {
		t.Fatal(err)
	}
	if err := Publish(t.Context(), dir, m); err == nil || !strings.Contains(err.Error(), "the run a was cancelled") {
		t.Errorf("published: %v", err)
	}
	// Nor does a job begin that was cancelled while the engine was starting it.
	if err := Claim(t.Context(), dir, r); err == nil || !strings.Contains(err.Error(), "was cancelled") {
		t.Errorf("claimed: %v", err)
	}
	again := run("b", "same")
	if err := Claim(t.Context(), dir, again); err != nil {
		t.Fatal(err)
	}
	if err := Claim(t.Context(), dir, r); err == nil {
		t.Error("the mark is gone since another attempt has begun")
	}
	// One that was cancelled when its manifest was written may publish, and Cancel says so.
	if err := Cancel(t.Context(), dir, run("c", "same"), "interrupted"); !errors.Is(err, errPublishing) {
		t.Errorf("cancelled: %v", err)
	}
	if err := Publish(t.Context(), dir, written(t, dir, again)); err != nil {
		t.Error(err)
	}
	if state, err := ReadState(t.Context(), dir); err != nil || state.Success == nil || state.Success.Run != "a" {
		t.Errorf("%+v, %v", state, err)
	}
}
