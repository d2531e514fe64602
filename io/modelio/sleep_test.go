package modelio

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/internal/fakegcs"
	"github.com/sparsenb/sparsenb/internal/faulty"
	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/fileio"
	_ "github.com/sparsenb/sparsenb/io/gcsio"
)

// place is an output folder in which one run is suspended at the n-th moment: before a change of the folder, or during it.
type place struct {
	dir      string // for others
	sleeper  string // the same, for the suspended run
	sleeps   func(n int, during func()) (slept func() bool)
	free     func() // removes it
	contents func() map[string]string
}

func onDisk(t *testing.T) place {
	p := place{dir: filepath.Join(t.TempDir(), "out")}
	p.sleeps = func(n int, during func()) func() bool {
		faulty.Reset()
		slept := false
		faulty.Call = func() { slept = true; during() }
		return func() bool { return slept }
	}
	p.free = func() {
		if err := os.RemoveAll(p.dir); err != nil {
			t.Error(err)
		}
	}
	p.contents = func() map[string]string {
		files := map[string]string{}
		for _, name := range names(t, p.dir) {
			content, err := os.ReadFile(filepath.Join(p.dir, name))
			if err != nil {
				t.Error(err)
			}
			files[name] = string(content)
		}
		return files
	}
	return p
}

func inBucket(t *testing.T, server *fakegcs.Server) place {
	p := place{dir: "gs://b/out", sleeper: "gs://b/out"}
	p.sleeps = func(n int, during func()) func() bool { return server.Delay(fakegcs.Changes, n, during) }
	p.free = func() { server.RemoveAll(t, "b", "out/") }
	p.contents = func() map[string]string {
		files := map[string]string{}
		for _, name := range server.List(t, "b", "out/") {
			content, _ := server.Get("b", name)
			files[strings.TrimPrefix(name, "out/")] = string(content)
		}
		return files
	}
	p.free()
	return p
}

// endings are the ways in which the other run ends.
var endings = map[string]func(ctx context.Context, dir string, r Run) error{
	"publishes": func(ctx context.Context, dir string, r Run) error {
		if err := Claim(ctx, dir, r); err != nil {
			return err
		}
		m, err := write(ctx, dir, r)
		if err != nil {
			return err
		}
		return Publish(ctx, dir, m)
	},
	"is refused": func(ctx context.Context, dir string, r Run) error {
		if err := Claim(ctx, dir, r); err != nil {
			return err
		}
		if _, err := write(ctx, dir, r); err != nil {
			return err
		}
		return Refuse(ctx, dir, r, Verdict{Run: r.ID, Exit: 3, Message: "no documents"})
	},
}

// A run is suspended at any moment; its folder is removed, and another run begins or publishes there. When the first run
// resumes, it neither changes nor completes the files of the other.
func TestSleepers(t *testing.T) {
	server := fakegcs.Start(t, "b") // one, since the store keeps its client
	t.Run("leave others alone", func(t *testing.T) { leaveOthersAlone(t, server) })
	t.Run("are noticed", func(t *testing.T) { noticed(t, server) })
}

func leaveOthersAlone(t *testing.T, server *fakegcs.Server) {
	for where, at := range map[string]func() place{
		"disk": func() place { return onDisk(t) }, "bucket": func() place { return inBucket(t, server) },
	} {
		for ending, end := range endings {
			for _, freed := range []string{"removed", "refused"} {
				for _, begun := range []bool{false, true} {
					if begun && testing.Short() {
						continue
					}
					for n := 1; ; n++ {
						what := fmt.Sprintf("%s, a run that %s sleeps at moment %d, folder %s, the other has begun: %v", where, ending, n, freed, begun)
						if !sleepsAt(t, what, at(), n, end, freed, begun) {
							if n < 6 {
								t.Errorf("%s: there is none", what)
							}
							break
						}
					}
				}
			}
		}
	}
}

// sleepsAt reports whether there was such a moment.
func sleepsAt(t *testing.T, what string, p place, n int, end func(context.Context, string, Run) error, freed string, begun bool) bool {
	ours, twin, theirs := run("a", "ours"), run("a2", "ours"), run("c", "theirs")
	if p.sleeper == "" {
		p.sleeper = fmt.Sprintf("faulty://call=%d%s", n, p.dir)
	}
	var m Manifest
	var before map[string]string
	ended := false
	slept := p.sleeps(n, func() {
		ctx := context.Background() // another machine's
		state, err := ReadState(ctx, p.dir)
		ended = state.Success != nil || state.Verdict != nil
		if err != nil || freed == "removed" || state.Success != nil {
			p.free()
		} else if err := endings["is refused"](ctx, p.dir, twin); err != nil {
			t.Errorf("%s: the other attempt: %v", what, err)
		}
		if err := Claim(ctx, p.dir, theirs); err != nil {
			t.Errorf("%s: the other run: %v", what, err)
		}
		if m, err = write(ctx, p.dir, theirs); err == nil && !begun {
			err = Publish(ctx, p.dir, m)
		}
		if err != nil {
			t.Errorf("%s: the other run: %v", what, err)
		}
		before = p.contents()
	})
	err := end(t.Context(), p.sleeper, ours)
	if !slept() {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		return false
	}
	if !errors.Is(err, fileio.ErrNotHeld) && !(err == nil && ended) {
		t.Errorf("%s: %v", what, err)
	}
	if got := p.contents(); !maps.Equal(got, before) {
		t.Errorf("%s: there is %q, was %q", what, got, before)
	}
	if begun {
		if err := Publish(t.Context(), p.dir, m); err != nil {
			t.Errorf("%s: the other run: %v", what, err)
		}
	}
	if state, err := ReadState(t.Context(), p.dir); err != nil || state.Success == nil || state.Success.Run != "c" || state.Started != nil || state.Verdict != nil {
		t.Errorf("%s: %+v, %v", what, state, err)
	}
	return true
}

// In a bucket, files of a resumed run are visible until it finds that the folder belongs to another run. That other run
// does not mistake them for its files.
func noticed(t *testing.T, server *fakegcs.Server) {
	for _, same := range []bool{true, false} { // name
		p := inBucket(t, server)
		ours, theirs := run("a", "ours"), run("c", "theirs")
		if err := Claim(t.Context(), p.dir, ours); err != nil {
			t.Fatal(err)
		}
		asleep := server.Delay(fakegcs.Uploads, 1, func() {
			p.free()
			if err := Claim(context.Background(), p.dir, theirs); err != nil {
				t.Error(err)
			}
			// The next request asks which run owns the folder.
			server.Delay(fakegcs.Any, 1, func() {
				var m Manifest
				var err error
				if same {
					m, err = write(context.Background(), p.dir, theirs)
				} else {
					m, err = writeOf(context.Background(), p.dir, theirs, 2)
				}
				if err == nil {
					err = Publish(context.Background(), p.dir, m)
				}
				if !errors.Is(err, fileio.ErrTaken) || !strings.HasPrefix(err.Error(), p.dir+"/counts/part-00000-of-00001.parquet: ") {
					t.Errorf("the other run: %v", err)
				}
			})
		})
		if _, err := write(t.Context(), p.dir, ours); !errors.Is(err, fileio.ErrNotHeld) {
			t.Errorf("the run that slept: %v", err)
		}
		if !asleep() {
			t.Error("it did not sleep")
		}
		if _, ok := p.contents()["counts/part-00000-of-00001.parquet"]; ok {
			t.Error("the part is left")
		}
	}
}

// Files of another version with other bytes are neither replaced nor published.
func TestOtherBytesAreNotReplaced(t *testing.T) {
	dir := t.TempDir()
	r := run("a", "same")
	if err := Claim(t.Context(), dir, r); err != nil {
		t.Fatal(err)
	}
	written(t, dir, r)
	guard := NewGuard(dir, r)
	part, err := countio.CreatePart(t.Context(), dir, 0, 1, []string{"same"}, guard.Check)
	if err != nil {
		t.Fatal(err)
	}
	defer part.Abort()
	if err := part.Add([]byte("another"), 1, []feature.Count{{Occurrences: 1, Documents: 1}}); err != nil {
		t.Fatal(err)
	}
	if _, err := part.Commit(); !errors.Is(err, fileio.ErrTaken) {
		t.Errorf("the part: %v", err)
	}
	if _, err := WriteTable(t.Context(), guard, PathFile, []PathRow{{Problem: "another"}}); !errors.Is(err, fileio.ErrTaken) {
		t.Errorf("the table: %v", err)
	}
	if _, err := WriteTable(t.Context(), guard, "else.parquet", []PathRow{}); err == nil {
		t.Error("a table is written that is not in the list")
	}
	if err := Publish(t.Context(), dir, written(t, dir, r)); err != nil {
		t.Error(err)
	}
}
