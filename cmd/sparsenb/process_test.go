package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/sparsenb/sparsenb/internal/outside"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/verify"
)

func federalist() string { return filepath.Join(outside.Root(), "testdata", "federalist", "train.tsv") }

// filesOf returns the checksums of the files of a run, or nil if none is published.
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

// A run that is killed at any time leaves no model or a complete one, and repeating the command finishes it.
func TestKilledAtRandomMoments(t *testing.T) {
	kills := 60
	if testing.Short() {
		kills = 6
	}
	for _, bits := range []string{"", "--hash_bits=18"} {
		killAtRandom(t, kills/2, bits)
	}
}

func killAtRandom(t *testing.T, kills int, bits string) {
	args := func(dir string) []string {
		args := []string{"--input=" + federalist(), "--output=" + dir, "--k=5,10", "--positive=Hamilton"}
		if bits != "" {
			args = append(args, bits)
		}
		return args
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
			if _, err := verify.Run(t.Context(), dir); err != nil {
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
	t.Logf("%s: %d of %d runs killed; %d left no model, %d a whole one", bits, killed, kills, unfinished, complete)
	if killed < kills/2 || unfinished == 0 {
		t.Errorf("only %d of %d runs were killed in time, %d before they had published", killed, kills, unfinished)
	}
}

// An interrupted run prints one line, exits with the code of the signal, and publishes nothing.
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
		// The run has started once its claim exists.
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

// An interrupted run ends even if its storage does not respond.
func TestSignalWhileStorageHangs(t *testing.T) {
	dir := t.TempDir()
	input := filepath.Join(dir, "in.tsv")
	if err := os.WriteFile(input, []byte("a\tupon the\nb\twhilst the\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(input+".hold", 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sparsenb", "--input=faulty://hold=3"+input, "--output="+filepath.Join(dir, "out"), "--k=1")
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
	if text := stderr.String(); text != "sparsenb: interrupted (interrupt): a step did not end in time; repeat the command to finish the run\n" {
		t.Errorf("%q", text)
	}
}

// Missing permissions are found before any job starts. Root has all permissions, so the command runs as another user.
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
	for name, mode := range map[string]os.FileMode{"closed": 0o555, "corpus": 0o755, "corpus/secret": 0o700} {
		if err := os.MkdirAll(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "corpus", "secret", "b.tsv"), []byte("b\tzz\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "corpus", "open"), os.DirFS(filepath.Join(outside.Root(), "testdata", "federalist"))); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() != 0 {
		if err := os.Chmod(filepath.Join(dir, "corpus", "secret"), 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ input, output, want string }{
		{"secret.tsv", "closed/out", "secret.tsv: permission denied; make it readable for this user"},
		{"open.tsv", "closed/out", "closed: permission denied"},
		{"corpus/*/*.tsv", "closed/out", "corpus/secret: permission denied; make it readable for this user"}, // and not half of the corpus
	} {
		cmd := exec.Command(filepath.Join(dir, "sparsenb"), "--input="+filepath.Join(dir, c.input), "--output="+filepath.Join(dir, c.output), "--k=1")
		if os.Getuid() == 0 {
			const nobody = 65534
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		}
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != modelio.ExitUsage || !strings.Contains(string(out), c.want) || strings.Count(string(out), "\n") != 1 {
			t.Errorf("%v: %s\nwant %s", err, out, c.want)
		}
	}
}

// On a terminal the progress is one line that is redrawn, and cleared at the end.
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

// stopped starts the command and waits until it is suspended at a change of its output, before or during it. It returns nil
// if the command ends before.
func stopped(t *testing.T, dir string, n int, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sparsenb", append(args, fmt.Sprintf("--output=faulty://stop=%d%s", n, dir))...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil); !errors.Is(err, syscall.EINTR) {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	if !status.Stopped() {
		if status.ExitStatus() != 0 {
			t.Errorf("stop=%d: %s", n, stderr.String())
		}
		return nil
	}
	return cmd
}

// tree returns the files of a folder with their times, by name.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content, err := os.ReadFile(name)
		files[strings.TrimPrefix(name, dir)] = fmt.Sprint(info.ModTime(), content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// A run is suspended at each of its changes in turn; its folder is removed, and another run publishes there. When the first
// run resumes, it fails and does not change the published files.
func TestStoppedRunsLeaveOthersAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts two processes for each moment")
	}
	args := []string{"--input=" + federalist(), "--shards=2", "--hash_bits=16"}
	moments := 0
	for n := 1; ; n++ {
		dir := filepath.Join(t.TempDir(), "out")
		cmd := stopped(t, dir, n, append(args, "--k=5")...)
		if cmd == nil {
			break
		}
		moments++
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		run(t, 0, append(args, "--k=6", "--output="+dir)...)
		before := tree(t, dir)
		if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		err := cmd.Wait()
		said := cmd.Stderr.(*bytes.Buffer).String()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != modelio.ExitTaken || !strings.Contains(said, "has published there") {
			t.Errorf("stopped at moment %d: %v: %s", n, err, said)
		}
		if !maps.Equal(tree(t, dir), before) {
			t.Errorf("stopped at moment %d: the other run's folder has changed", n)
		}
	}
	if moments < 19 { // two of each file: the claim, two parts, four tables, the manifest, _SUCCESS; and that the claim goes
		t.Errorf("%d moments", moments)
	}
}

// oneClass is refused by the latest verdict, after the counts are written.
const oneClass = "a\tsome words\na\tother words\n"

// A run that is killed at each of its changes in turn leaves no model or a complete one, and no verdict or a complete one;
// repeating the command has the result of an uninterrupted run.
func TestKilledAtEachMoment(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts two processes for each moment")
	}
	bad := filepath.Join(t.TempDir(), "bad.tsv")
	if err := os.WriteFile(bad, []byte(oneClass), 0o666); err != nil {
		t.Fatal(err)
	}
	counts := filepath.Join(t.TempDir(), "counts")
	run(t, 0, "count", "--input="+federalist(), "--shards=2", "--output="+counts)
	for what, c := range map[string]struct {
		exit, least int
		args        []string
	}{
		"words":   {0, 17, []string{"--input=" + federalist(), "--shards=2", "--k=5"}},
		"buckets": {0, 19, []string{"--input=" + federalist(), "--shards=2", "--k=5", "--hash_bits=16"}},
		"select":  {0, 13, []string{"select", "--counts=" + counts, "--k=5"}},
		"refused": {3, 11, []string{"--input=" + bad, "--shards=2", "--k=5"}},
	} {
		whole := filepath.Join(t.TempDir(), "whole")
		run(t, c.exit, append(c.args, "--output="+whole)...)
		n := 1
		for ; ; n++ {
			dir := filepath.Join(t.TempDir(), "out")
			cmd := exec.Command("sparsenb", append(c.args, fmt.Sprintf("--output=faulty://kill=%d%s", n, dir))...)
			if err := cmd.Run(); err == nil || cmd.ProcessState.Exited() {
				break
			}
			if filesOf(t, dir) != nil {
				if _, err := verify.Run(t.Context(), dir); err != nil {
					t.Errorf("%s, killed at moment %d, has published: %v", what, n, err)
				}
			}
			run(t, c.exit, append(c.args, "--output="+dir)...)
			if got, want := filesOf(t, dir), filesOf(t, whole); !maps.Equal(got, want) {
				t.Errorf("%s, killed at moment %d, finished by the same command: %v, want %v", what, n, got, want)
			}
			got, want := slices.Sorted(maps.Keys(tree(t, dir))), slices.Sorted(maps.Keys(tree(t, whole)))
			if !slices.Equal(got, want) {
				t.Errorf("%s, killed at moment %d, finished by the same command, has left %v, want %v", what, n, got, want)
			}
		}
		if n <= c.least {
			t.Errorf("%s: %d moments", what, n-1)
		}
	}
}

// Of two concurrent runs of the same command on bad data, one finds the verdict of the other and exits with the same code.
func TestStoppedRunsOnBadData(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts three processes for each moment")
	}
	bad := filepath.Join(t.TempDir(), "bad.tsv")
	if err := os.WriteFile(bad, []byte(oneClass), 0o666); err != nil {
		t.Fatal(err)
	}
	for n := 1; ; n++ {
		dir := filepath.Join(t.TempDir(), "out")
		args := []string{"--input=" + bad, "--shards=2", "--k=5"}
		first := exec.Command("sparsenb", append(args, fmt.Sprintf("--output=faulty://stop=%d%s", n, dir))...)
		var stderr bytes.Buffer
		first.Stderr = &stderr
		if err := first.Start(); err != nil {
			t.Fatal(err)
		}
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(first.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil {
			t.Fatal(err)
		}
		if !status.Stopped() {
			if n <= 11 {
				t.Errorf("%d moments", n-1)
			}
			break
		}
		run(t, 3, append(args, "--output="+dir)...)
		if err := first.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		var exit *exec.ExitError
		if err := first.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 3 || !strings.Contains(stderr.String(), "only one class has documents") {
			t.Errorf("stopped at moment %d: %v: %s", n, err, stderr.String())
		}
		if got := slices.Sorted(maps.Keys(tree(t, dir))); !slices.Equal(got, []string{"/verdict.json"}) {
			t.Errorf("stopped at moment %d: left %v", n, got)
		}
		// The folder can be used for another run.
		run(t, 0, "--input="+federalist(), "--shards=2", "--k=5", "--output="+dir)
	}
}
