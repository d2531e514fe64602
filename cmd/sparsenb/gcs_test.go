package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sparsenb/sparsenb/internal/fakegcs"
	"github.com/sparsenb/sparsenb/io/modelio"
)

// run runs the command, checks its exit code, and returns its stderr.
func run(t *testing.T, code int, args ...string) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command("sparsenb", args...)
	cmd.Stderr = &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("sparsenb %s: exit code %d, want %d: %s", strings.Join(args, " "), got, code, stderr.String())
	}
	return stderr.String()
}

// federalistOn stores the Federalist papers in a bucket, in two files, one compressed with Content-Encoding.
func federalistOn(t *testing.T, server *fakegcs.Server) {
	t.Helper()
	content, err := os.ReadFile(federalist())
	if err != nil {
		t.Fatal(err)
	}
	var plain, packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for line := range bytes.Lines(content) {
		if bytes.HasPrefix(line, []byte("Madison")) {
			_, err = z.Write(line)
		} else {
			_, err = plain.Write(line)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	server.Put("b", "in/hamilton.tsv", plain.Bytes(), "")
	server.Put("b", "in/madison.tsv", packed.Bytes(), "gzip")
}

// A run in a bucket writes the same bytes as on the local disk, even if requests fail occasionally.
func TestGoogleCloudStorage(t *testing.T) {
	server := fakegcs.Start(t, "b")
	federalistOn(t, server)
	local := filepath.Join(t.TempDir(), "out")
	options := []string{"--k=5,10", "--positive=Hamilton"}
	run(t, 0, append(options, "--input="+federalist(), "--output="+local)...)
	want := filesOf(t, local)
	args := append(options, "--input=gs://b/in/*.tsv", "--output=gs://b/out")
	server.Fail(fakegcs.Uploads, fakegcs.UnavailableBefore, fakegcs.ResetAfter, fakegcs.CutBody, fakegcs.UnavailableAfter)
	server.Fail(fakegcs.Downloads, fakegcs.CutBody, fakegcs.ResetBefore)
	if said := run(t, 0, args...); !strings.Contains(said, "sparsenb: published gs://b/out in ") {
		t.Errorf("%s", said)
	}
	server.Failed(t)
	if len(want) != 67 {
		t.Errorf("%d files", len(want))
	}
	for name := range want {
		content, err := os.ReadFile(filepath.Join(local, name))
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := server.Get("b", "out/"+name); !ok || !bytes.Equal(got, content) {
			t.Errorf("%s: %d bytes, %d on the local disk", name, len(got), len(content))
		}
	}
	if _, ok := server.Get("b", "out/_STARTED.json"); ok {
		t.Error("the claim is left")
	}
	if said := run(t, 0, args...); !strings.Contains(said, "gs://b/out: this run is already published; nothing to do") {
		t.Errorf("%s", said)
	}
	run(t, 0, "inspect", "--verify", "gs://b/out")
	run(t, 0, "inspect", "gs://b/out", local)
	run(t, 0, "select", "--counts=gs://b/out", "--output=gs://b/selected/", "--k=5,10", "--positive=Hamilton")
	whole, _ := server.Get("b", "out/features.parquet")
	if got, ok := server.Get("b", "selected/features.parquet"); !ok || !bytes.Equal(got, whole) {
		t.Error("a selection from the counts gives another table")
	}
	run(t, 0, "--input=gs://b/in/*.tsv", "--output="+filepath.Join(t.TempDir(), "mixed"), "--k=5")
	said := run(t, 2, append(options, "--input=gs://b/in/*.tsv", "--output=gs://b/out", "--k=7")...)
	if !strings.HasPrefix(said, "sparsenb: gs://b/out: contains another run") {
		t.Errorf("%s", said)
	}
}

func TestGoogleCloudStorageFailures(t *testing.T) {
	server := fakegcs.Start(t, "b")
	federalistOn(t, server)
	for _, c := range []struct {
		input, output, want string
	}{
		{"gs://b/none.tsv", "gs://b/out", "gs://b/none.tsv: no such object"},
		{"gs://b/none/*", "gs://b/out", "gs://b/none/*: no file matches --input"},
		{"gs://b/none/", "gs://b/out", "gs://b/none/: no such object"},
		{"gs://none/*", "gs://b/out", "gs://none/*: no such bucket"},
		{"gs://b/in/*", "gs://none/out", "gs://none/out: no such bucket"},
		{"gs://b/in", "gs://b/in", "gs://b/in: not empty, contains hamilton.tsv; choose another --output"},
		{"gs://b/in/*", "gs:///out", "gs:///out: has no bucket; a name is gs://bucket/object"},
		{"s3://b/in/*", "gs://b/out", "s3://b/in/*: s3:// is not supported; use a file path or faulty:// or gs://"},
	} {
		said := run(t, 2, "--input="+c.input, "--output="+c.output, "--k=5")
		if want := "sparsenb: " + c.want + "\n"; said != want {
			t.Errorf("%s → %s: %s, want %s", c.input, c.output, said, want)
		}
	}
	server.Fail(fakegcs.Uploads, fakegcs.Forbidden)
	said := run(t, 2, "--input=gs://b/in/*", "--output=gs://b/out", "--k=5")
	if want := "sparsenb: gs://b/out: permission denied (somebody does not have storage access)\n"; said != want {
		t.Errorf("%s, want %s", said, want)
	}
	t.Setenv("STORAGE_EMULATOR_HOST", "")
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(t.TempDir(), "none"))
	said = run(t, 2, "--input=gs://b/in/*", "--output=gs://b/out", "--k=5")
	if strings.Count(said, "\n") != 1 || !strings.Contains(said, "gcloud auth application-default login") {
		t.Errorf("without credentials: %s", said)
	}
}

// A run is suspended during an upload; its folder is removed, and another run publishes there. The first run does not change
// the published files.
func TestGoogleCloudStorageSleeper(t *testing.T) {
	server := fakegcs.Start(t, "b")
	federalistOn(t, server)
	contents := func() map[string]string {
		files := map[string]string{}
		for _, name := range server.List(t, "b", "out/") {
			content, _ := server.Get("b", name)
			files[name] = string(content)
		}
		return files
	}
	// With one shard there is one upload at a time. The first upload checks the permissions.
	args := []string{"--input=gs://b/in/*", "--output=gs://b/out", "--shards=1"}
	for what, n := range map[string]int{"the claim": 2, "the part": 3, "_SUCCESS": 8} {
		server.RemoveAll(t, "b", "out/")
		started, published := make(chan *os.Process, 1), make(chan map[string]string, 1)
		var stderr bytes.Buffer
		cmd := exec.Command("sparsenb", append(args, "--k=5")...)
		cmd.Stderr = &stderr
		slept := server.Delay(fakegcs.Uploads, n, func() {
			process := <-started
			if err := process.Signal(syscall.SIGSTOP); err != nil {
				t.Error(err)
			}
			if _, err := syscall.Wait4(process.Pid, nil, syscall.WUNTRACED, nil); err != nil {
				t.Error(err)
			}
			server.RemoveAll(t, "b", "out/")
			run(t, 0, append(args, "--k=6")...)
			published <- contents()
			if err := process.Signal(syscall.SIGCONT); err != nil {
				t.Error(err)
			}
		})
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		started <- cmd.Process
		err := cmd.Wait()
		if !slept() || cmd.ProcessState.ExitCode() != modelio.ExitTaken || !strings.Contains(stderr.String(), "gs://b/out: another run (") {
			t.Fatalf("stopped at %s: %v: %s", what, err, stderr.String())
		}
		if !maps.Equal(contents(), <-published) {
			t.Errorf("stopped at %s, it has changed the other run's folder", what)
		}
		run(t, 0, "inspect", "--verify", "gs://b/out")
	}
}

// A bit that flips during a download, in plain or compressed text, fails the run; a retry succeeds.
func TestGoogleCloudStorageFlipsABit(t *testing.T) {
	server := fakegcs.Start(t, "b")
	content, err := os.ReadFile(federalist())
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for range 10 { // more than is read at a time
		if _, err := z.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	server.Put("b", "in/plain.tsv", bytes.Repeat(content, 3), "")
	server.Put("b", "in/packed.tsv.gz", packed.Bytes(), "")
	for _, name := range []string{"plain.tsv", "packed.tsv.gz"} {
		reads := 0
		server.Fail(func(r *http.Request) bool {
			if fakegcs.Downloads(r) && strings.HasSuffix(r.URL.Path, name) {
				reads++
			}
			return reads == 3 // the first two look at the start alone
		}, fakegcs.Flip)
		args := []string{"--input=gs://b/in/" + name, "--output=gs://b/" + name, "--k=5"}
		said := run(t, 1, args...)
		server.Failed(t)
		if !strings.HasPrefix(said, "sparsenb: gs://b/in/"+name+": checksum mismatch: ") || strings.Count(said, "\n") != 1 {
			t.Errorf("%s: %s", name, said)
		}
		if left := server.List(t, "b", name+"/_SUCCESS"); len(left) > 0 {
			t.Errorf("%s: published", name)
		}
		run(t, 0, args...)
	}
}

// A run that is killed publishes nothing; repeating the command finishes it.
func TestGoogleCloudStorageKilled(t *testing.T) {
	server := fakegcs.Start(t, "b")
	federalistOn(t, server)
	args := []string{"--input=gs://b/in/*", "--output=gs://b/out", "--k=5"}
	cmd := exec.Command("sparsenb", args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; {
		if _, ok := server.Get("b", "out/counts/part-00003-of-00064.parquet"); ok {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the run does not begin")
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the run was over before it was killed")
	}
	if _, ok := server.Get("b", "out/_SUCCESS"); ok {
		t.Error("a run that was killed has published")
	}
	run(t, 2, "--input=gs://b/in/*", "--output=gs://b/out", "--k=6")
	run(t, 0, args...)
	run(t, 0, "inspect", "--verify", "gs://b/out")
}
