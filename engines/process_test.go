package engines

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience is how long anything that starts or changes may take to be so.
const patience = 90 * time.Second

// process is a program that the tests have started.
type process struct {
	name  string
	cmd   *exec.Cmd
	log   string
	ended chan struct{}
	guard io.Closer
}

// start runs a program in a new process group until the test ends. A guard, which is another process, kills the
// whole group when its standard input ends, and so also if the test itself is killed.
func start(t testing.TB, name string, env []string, program string, args ...string) *process {
	t.Helper()
	logs, err := os.Create(filepath.Join(logFolder(t), name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	defer logs.Close()
	p := &process{name: name, cmd: exec.Command(program, args...), log: logs.Name(), ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = logs, logs
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	guard := exec.Command("sh", "-c", fmt.Sprintf("read line; kill -9 -%d", p.cmd.Process.Pid))
	guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if p.guard, err = guard.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := guard.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // how it ended is in its log
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.guard.Close()
		_ = guard.Wait() // the group may be gone already
		<-p.ended
		if t.Failed() {
			t.Logf("the end of %s:\n%s", p.log, tail(p.log, 20))
		}
	})
	return p
}

// kill sends SIGKILL to the program alone, not to what it started.
func (p *process) kill(t testing.TB) {
	t.Helper()
	p.signal(t, syscall.SIGKILL)
	<-p.ended
}

func (p *process) signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
}

// logFolder keeps what the programs print: in the test's folder, which goes with it, or below SPARSENB_ENGINE_LOGS.
func logFolder(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("SPARSENB_ENGINE_LOGS")
	if dir == "" {
		return t.TempDir()
	}
	dir = filepath.Join(dir, strings.ReplaceAll(t.Name(), "/", "_"))
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

func tail(name string, lines int) string {
	content, err := os.ReadFile(name)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(content)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// freePorts returns ports that nobody listens on.
func freePorts(t testing.TB, n int) []int {
	t.Helper()
	ports := make([]int, n)
	for i := range ports {
		l := listenBelow(t, 32768)
		defer l.Close()
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports
}

// listenBelow takes a port that the system gives to nobody who has not asked for it: those are above the limit, and an
// engine's other ports are among them.
func listenBelow(t testing.TB, limit int) net.Listener {
	t.Helper()
	for range 1000 {
		if l, err := net.Listen("tcp", fmt.Sprintf(":%d", 10_000+rand.IntN(limit-10_000))); err == nil {
			return l
		}
	}
	t.Fatalf("no port from 10000 to %d is free", limit)
	return nil
}

// eventually waits until ready returns nil.
func eventually(t testing.TB, what string, ready func() error) {
	t.Helper()
	poll(t, what, 100*time.Millisecond, ready)
}

func poll(t testing.TB, what string, interval time.Duration, ready func() error) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := ready()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v: %v", what, patience, err)
		}
		time.Sleep(interval)
	}
}

// listens waits for a server.
func (p *process) listens(t testing.TB, port int) {
	t.Helper()
	eventually(t, p.name, func() error {
		select {
		case <-p.ended:
			t.Fatalf("%s has ended:\n%s", p.name, tail(p.log, 20))
		default:
		}
		c, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", port), time.Second)
		if err != nil {
			return err
		}
		return c.Close()
	})
}

// getJSON reads what a server says.
func getJSON(url string, v any) error {
	client := http.Client{Timeout: 5 * time.Second}
	r, err := client.Get(url)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, r.Status)
	}
	return json.NewDecoder(r.Body).Decode(v)
}

// workers returns the processes that run as workers of Beam, this test's binary, each with the one that started it.
func workers(t testing.TB) map[int]int {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	parents := map[int]int{}
	for _, name := range names {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		command, err := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline"))
		if err != nil || !bytes.HasPrefix(command, []byte(binary(t)+"\x00--worker=true")) {
			continue
		}
		pid, err1 := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		// pid (name) state ppid …
		parent, err2 := strconv.Atoi(strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))[1])
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		parents[pid] = parent
	}
	return parents
}

// workersOf returns the workers that a program has started.
func workersOf(t testing.TB, p *process) (pids []int) {
	t.Helper()
	for pid, parent := range workers(t) {
		if parent == p.cmd.Process.Pid {
			pids = append(pids, pid)
		}
	}
	return pids
}

// result is what became of the command.
type result struct {
	exit           int
	stdout, stderr string
}

// sparsenb runs the command to its end.
func sparsenb(t testing.TB, args ...string) result {
	t.Helper()
	return begin(t, args...)()
}

// begin starts the command and returns what waits for its end.
func begin(t testing.TB, args ...string) func() result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, binary(t), args...)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return func() result {
		err := c.Wait()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return result{c.ProcessState.ExitCode(), stdout.String(), stderr.String()}
	}
}
