package engines

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// limited are the flags of a run whose workers cannot write files of more than 32 KB, as on a disk that is full. All of its
// counts go to one file, of 200 KB.
func limited(t testing.TB) []string {
	t.Helper()
	const blocks = 64 // of 512 bytes
	script := filepath.Join(t.TempDir(), "limited")
	content := fmt.Sprintf("#!/bin/sh\nulimit -f %d\nexec %s \"$@\"\n", blocks, binary(t))
	if err := os.WriteFile(script, []byte(content), 0o777); err != nil {
		t.Fatal(err)
	}
	config, err := json.Marshal(map[string]string{"command": script})
	if err != nil {
		t.Fatal(err)
	}
	return []string{"--shards=1", "--environment_config=" + string(config)}
}

// progressLine is what the command says every half minute.
var progressLine = regexp.MustCompile(`(?m)^sparsenb: \d{4}-\d\d-\d\dT.*\n`)

// What a step says reaches the user as one line, not the engine's plan.
func checkError(t testing.TB, r result, exit int, want string) {
	t.Helper()
	said := progressLine.ReplaceAllString(r.stderr, "")
	if r.exit != exit || !strings.Contains(said, want) || strings.Count(said, "\n") != 1 {
		t.Errorf("exit %d: %s; want %d, and %q in one line", r.exit, r.stderr, exit, want)
	}
}

func TestErrorsOnFlink(t *testing.T) {
	f := startFlink(t, 2, 0)
	t.Run("disk full", func(t *testing.T) {
		got := filepath.Join(t.TempDir(), "flink")
		checkError(t, sparsenb(t, with(hamilton, f.flags(2), to(got), limited(t))...), 1, "file too large")
		checkUnpublished(t, got)
	})
	t.Run("no program", func(t *testing.T) {
		got := filepath.Join(t.TempDir(), "flink")
		config := `--environment_config={"command":"/no/such/program"}`
		checkError(t, sparsenb(t, with(hamilton, f.flags(2), to(got), []string{config})...), 1, "a worker could not start; probably the program is not at the same path")
		checkUnpublished(t, got)
	})
	t.Run("another service", func(t *testing.T) {
		got := filepath.Join(t.TempDir(), "flink")
		checkError(t, sparsenb(t, with(hamilton, to(got), []string{"--runner=flink", "--endpoint=" + f.artifacts})...), 2, "this is not a Beam job server")
		checkUnpublished(t, got)
	})
	t.Run("gate", func(t *testing.T) {
		got := filepath.Join(t.TempDir(), "flink")
		checkError(t, sparsenb(t, with([]string{"--input=" + federalist, "--positive=Jay", "--k=10"}, f.flags(2), to(got))...), 2, "--positive=Jay: no such label in the data; found: Hamilton, Madison")
		checkUnpublished(t, got)
	})
	t.Run("interrupted", func(t *testing.T) {
		got := filepath.Join(t.TempDir(), "flink")
		input := big(t)
		launcher := start(t, "launcher", nil, binary(t), with([]string{"--input=" + input, "--k=10"}, f.flags(2), to(got))...)
		f.whenRunning(t, mapStep)
		launcher.signal(t, syscall.SIGTERM)
		<-launcher.ended
		if exit := launcher.cmd.ProcessState.ExitCode(); exit != 128+int(syscall.SIGTERM) || !strings.Contains(tail(launcher.log, 1), "interrupted (terminated): nothing was published") {
			t.Errorf("exit %d: %s", exit, tail(launcher.log, 3))
		}
		// Flink goes on to the end of the job, which must not publish.
		eventually(t, "the end of the job", f.idle)
		checkUnpublished(t, got)
		noOrphans(t)
		publish(t, with([]string{"--input=" + input, "--k=10"}, f.flags(2), to(got))...)
	})
	t.Run("no free slot", func(t *testing.T) {
		got := filepath.Join(t.TempDir(), "flink")
		for range 2 { // the second attempt finds what the first has left
			checkError(t, sparsenb(t, with(hamilton, f.flags(9), to(got), []string{"--stall_timeout=10s"})...), 1, "probably the engine has fewer free slots than --parallelism")
			checkUnpublished(t, got)
		}
	})
}

func TestErrorsOnSpark(t *testing.T) {
	s := startSpark(t, 2)
	got := filepath.Join(t.TempDir(), "spark")
	checkError(t, sparsenb(t, with(hamilton, s.flags(), to(got), limited(t))...), 1, "file too large")
	checkUnpublished(t, got)
	got = filepath.Join(t.TempDir(), "gate")
	checkError(t, sparsenb(t, with(hamilton, s.flags(), to(got), []string{"--max_record_bytes=2kB"})...), 3, "no documents: all 65 records are malformed")
	checkUnpublished(t, got)
}

func TestNoJobServer(t *testing.T) {
	got := filepath.Join(t.TempDir(), "none")
	flags := []string{"--runner=flink", fmt.Sprintf("--endpoint=127.0.0.1:%d", freePorts(t, 1)[0])}
	checkError(t, sparsenb(t, with(hamilton, flags, to(got))...), 1, "no Beam job server answers at this address")
	checkUnpublished(t, got)
}

func checkUnpublished(t testing.TB, dir string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, "_SUCCESS")); err == nil {
		t.Errorf("%s was published", dir)
	}
}

// A session cluster takes job after job: its memory for classes and for channels comes back.
func TestTenJobsInARow(t *testing.T) {
	f := startFlink(t, 2, 0)
	want := locally(t, hamilton...)
	for i := range 10 {
		got := filepath.Join(t.TempDir(), fmt.Sprint("flink", i))
		publish(t, with(hamilton, f.flags(2), to(got))...)
		checkSame(t, got, want)
	}
}
