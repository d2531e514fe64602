package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/sparsenb/sparsenb/internal/outside"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/pipeline"
)

func federalist() string { return filepath.Join(outside.Root(), "testdata", "federalist", "train.tsv") }

// filesOf are the checksums of the files of a run; nil if none is published.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, modelio.SuccessFile)); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	m, err := modelio.ReadManifest(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for _, f := range m.Files {
		sums[f.Name] = f.SHA256
	}
	return sums
}

// Killed at any moment, a run leaves no model or a whole one, and the same command then finishes what it began.
func TestKilledAtRandomMoments(t *testing.T) {
	kills := 100
	if testing.Short() {
		kills = 5
	}
	args := func(dir string) []string {
		return []string{"--input=" + federalist(), "--output=" + dir, "--k=5,10", "--positive=Hamilton"}
	}
	whole := filepath.Join(t.TempDir(), "whole")
	started := time.Now()
	if out, err := exec.Command("sparsenb", args(whole)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	took := time.Since(started)
	want := filesOf(t, whole)
	rng := rand.New(rand.NewPCG(1, 1))
	killed, unfinished, complete := 0, 0, 0
	for range kills {
		dir := filepath.Join(t.TempDir(), "out")
		cmd := exec.Command("sparsenb", args(dir)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(time.Duration(rng.Int64N(int64(took))), func() {
			if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Error(err)
			}
		})
		if err := cmd.Wait(); err != nil {
			killed++
		}
		kill.Stop()
		if filesOf(t, dir) == nil {
			unfinished++
		} else {
			complete++
			if _, err := pipeline.Verify(t.Context(), dir); err != nil {
				t.Errorf("a run that was killed has published: %v", err)
			}
		}
		if out, err := exec.Command("sparsenb", args(dir)...).CombinedOutput(); err != nil {
			t.Fatalf("the same command again: %v: %s", err, out)
		}
		if got := filesOf(t, dir); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("finished by the same command: %v, want %v", got, want)
		}
		if left := outside.Hidden(t, dir); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	}
	t.Logf("%d of %d runs killed; %d left no model, %d a whole one", killed, kills, unfinished, complete)
	if killed < kills/2 || unfinished == 0 {
		t.Errorf("only %d of %d runs were killed in time, %d before they had published", killed, kills, unfinished)
	}
}

// An interrupted run says so in one line, with the exit code of its signal, and publishes nothing.
func TestSignals(t *testing.T) {
	big := filepath.Join(t.TempDir(), "big.tsv")
	line := strings.Repeat("upon the subject of which there is much to say ", 100)
	if err := os.WriteFile(big, bytes.Repeat([]byte("a\t"+line+"\nb\t"+line+"\n"), 10_000), 0o666); err != nil {
		t.Fatal(err)
	}
	for signal, code := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		dir := filepath.Join(t.TempDir(), "out")
		cmd := exec.Command("sparsenb", "--input="+big, "--output="+dir, "--k=2")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// The run has begun when its claim is there.
		for deadline := time.Now().Add(time.Minute); ; {
			if _, err := os.Stat(filepath.Join(dir, modelio.StartedFile)); err == nil {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("the run does not begin")
			}
		}
		for range 2 { // as timeout(1) does
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
		}
		err := cmd.Wait()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != code {
			t.Errorf("%v: %v, want exit code %d", signal, err, code)
		}
		if text := stderr.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "nothing was published") {
			t.Errorf("%v: %q", signal, text)
		}
		if filesOf(t, dir) != nil {
			t.Errorf("%v: something was published", signal)
		}
	}
}

// An interrupted run ends although its storage does not answer.
func TestSignalWhileStorageHangs(t *testing.T) {
	dir := t.TempDir()
	input := filepath.Join(dir, "in.tsv")
	if err := os.WriteFile(input, []byte("a\tupon the\nb\twhilst the\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(input+".hold", 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sparsenb", "--input=faulty://hold=2"+input, "--output="+filepath.Join(dir, "out"), "--k=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	hold, err := os.OpenFile(input+".hold", os.O_WRONLY, 0) // returns when the job reads
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Close()
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
		t.Errorf("%v, want exit code 130", err)
	}
	if text := stderr.String(); text != "sparsenb: interrupted (interrupt): nothing was published; the same command starts again\n" {
		t.Errorf("%q", text)
	}
}

// What may not be read or written is found before any job. Root may read and write everything, so that the command runs
// as somebody else here.
func TestPermissions(t *testing.T) {
	dir := t.TempDir()
	for _, open := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(open, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"sparsenb": binary, "secret.tsv": []byte("a\tx y\n"), "open.tsv": []byte("a\txx yy\nb\tzz\n")} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "secret.tsv"), 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "closed"), 0o555); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ input, output, want string }{
		{"secret.tsv", "closed/out", "secret.tsv: permission denied; it must be readable"},
		{"open.tsv", "closed/out", "closed: permission denied"},
	} {
		cmd := exec.Command(filepath.Join(dir, "sparsenb"), "--input="+filepath.Join(dir, c.input), "--output="+filepath.Join(dir, c.output), "--k=1")
		if os.Getuid() == 0 {
			const nobody = 65534
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		}
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != pipeline.ExitUsage || !strings.Contains(string(out), c.want) || strings.Count(string(out), "\n") != 1 {
			t.Errorf("%v: %s\nwant %s", err, out, c.want)
		}
	}
}

// On a terminal the progress is a line that moves; it is gone at the end.
func TestProgressOnATerminal(t *testing.T) {
	cmd := exec.Command("sparsenb", "--input="+federalist(), "--output="+filepath.Join(t.TempDir(), "out"), "--k=3")
	terminal, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(terminal)
	if err != nil && !errors.Is(err, syscall.EIO) { // which is how a terminal ends
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	text := string(out)
	if !strings.Contains(text, "\r\x1b[Kread ") || !strings.Contains(text, "\r\x1b[Ksparsenb: published") {
		t.Errorf("the terminal saw %q", text)
	}
}
