package engines

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A task manager that is killed in the map, in the merge, or while the model is written costs time, and nothing else.
func TestFlinkLosesATaskManager(t *testing.T) {
	args := []string{"--input=" + big(t), "--k=10,30%"}
	want := locally(t, args...)
	f := startFlink(t, 3, 5)
	for _, step := range []struct{ name, vertex string }{{"map", mapStep}, {"merge", mergeStep}, {"commit", commitStep}} {
		t.Run(step.name, func(t *testing.T) {
			got := filepath.Join(t.TempDir(), "flink")
			end := begin(t, with(args, f.flags(2), to(got))...)
			victim := f.whenRunning(t, step.vertex)
			victim.kill(t)
			defer func() {
				f.addTaskManager()
				f.waitForTaskManagers(t, 3)
			}()
			t.Logf("killed %s", victim.name)
			finish(t, end, got, want)
			if n := f.attempts(t, step.vertex); n < 2 {
				t.Errorf("%s was started %d times", step.vertex, n)
			}
			noOrphans(t)
		})
	}
}

// finish waits for a run that was disturbed, and compares what it has published.
func finish(t testing.TB, end func() result, got, want string) {
	t.Helper()
	r := end()
	if r.exit != 0 {
		t.Fatalf("exit %d: %s", r.exit, r.stderr)
	}
	checkSame(t, got, want)
	if !strings.Contains(r.stderr, "39 MB read") {
		t.Errorf("the counters are not those of one reading: %s", r.stderr)
	}
}

// noOrphans holds that of the workers that a task manager or an executor has started, none outlives it.
func noOrphans(t testing.TB) {
	t.Helper()
	eventually(t, "the orphans to end", func() error {
		for pid, parent := range workers(t) {
			command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", parent))
			if err != nil || !strings.Contains(string(command), "java") {
				return fmt.Errorf("%d is left, whose parent is %d now", pid, parent)
			}
		}
		return nil
	})
}

// A worker of Beam that is killed, or hangs for a while.
func TestFlinkLosesAWorker(t *testing.T) {
	args := []string{"--input=" + big(t), "--k=10"}
	want := locally(t, args...)
	f := startFlink(t, 2, 5)
	t.Run("killed", func(t *testing.T) {
		got := filepath.Join(t.TempDir(), "flink")
		end := begin(t, with(args, f.flags(2), to(got))...)
		manager := f.whenRunning(t, mapStep)
		send(t, manager, syscall.SIGKILL)
		finish(t, end, got, want)
		if n := f.attempts(t, mapStep); n < 2 {
			t.Errorf("the map was started %d times", n)
		}
		noOrphans(t)
	})
	t.Run("hangs", func(t *testing.T) {
		got := filepath.Join(t.TempDir(), "flink")
		end := begin(t, with(args, f.flags(2), to(got))...)
		manager := f.whenRunning(t, mapStep)
		stopped := send(t, manager, syscall.SIGSTOP)
		time.Sleep(8 * time.Second) // longer than the heartbeats of Flink may be late
		for _, pid := range stopped {
			if err := syscall.Kill(pid, syscall.SIGCONT); err != nil && !errors.Is(err, syscall.ESRCH) {
				t.Fatal(err)
			}
		}
		finish(t, end, got, want)
	})
}

// send sends a signal to the workers of a task manager, when it has any.
func send(t testing.TB, manager *process, s syscall.Signal) (pids []int) {
	t.Helper()
	eventually(t, "workers", func() error {
		if pids = workersOf(t, manager); len(pids) == 0 {
			return os.ErrNotExist
		}
		return nil
	})
	for _, pid := range pids {
		if err := syscall.Kill(pid, s); err != nil {
			t.Fatal(err)
		}
	}
	return pids
}

// The launcher and the job server may go once the job is submitted: the model appears all the same.
func TestFlinkLosesItsLauncher(t *testing.T) {
	args := []string{"--input=" + big(t), "--k=10"}
	want := locally(t, args...)
	f := startFlink(t, 2, 5)
	t.Run("launcher", func(t *testing.T) {
		got := filepath.Join(t.TempDir(), "flink")
		launcher := start(t, "launcher", nil, binary(t), with(args, f.flags(2), to(got))...)
		f.whenRunning(t, mapStep)
		launcher.kill(t)
		appears(t, got)
		checkSame(t, got, want)
	})
	t.Run("job server", func(t *testing.T) {
		got := filepath.Join(t.TempDir(), "flink")
		end := begin(t, with(args, f.flags(2), to(got))...)
		f.whenRunning(t, mapStep)
		f.jobServer.kill(t)
		r := end()
		checkError(t, r, 1, "lost the connection to the job server")
		appears(t, got)
		checkSame(t, got, want)
	})
}

func appears(t testing.TB, dir string) {
	t.Helper()
	eventually(t, "the model", func() error {
		_, err := os.Stat(filepath.Join(dir, "_SUCCESS"))
		return err
	})
}

// Spark's job server is the driver of its jobs. When a worker of Beam or an executor is killed the job goes on; when the
// driver is, the same command finishes it by another.
func TestSparkLosesAWorkerAnExecutorAndTheDriver(t *testing.T) {
	args := []string{"--input=" + big(t), "--k=10"}
	want := locally(t, args...)
	s := startSpark(t, 2)
	t.Run("worker", func(t *testing.T) {
		got := filepath.Join(t.TempDir(), "spark")
		failed := s.tasksFailed(t)
		end := begin(t, with(args, s.flags(), to(got))...)
		executorsWithWorkers(t, s)
		for pid := range workers(t) {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
		finish(t, end, got, want)
		if s.tasksFailed(t) == failed {
			t.Error("Spark has not noticed the loss")
		}
		noOrphans(t)
	})
	t.Run("executor", func(t *testing.T) {
		got := filepath.Join(t.TempDir(), "spark")
		end := begin(t, with(args, s.flags(), to(got))...)
		killExecutor(t, s)
		finish(t, end, got, want)
		if n := s.executorsLost(t); n == 0 {
			t.Error("Spark has not noticed the loss")
		}
	})
	t.Run("driver", func(t *testing.T) {
		got := filepath.Join(t.TempDir(), "spark")
		end := begin(t, with(args, s.flags(), to(got))...)
		executorsWithWorkers(t, s)
		s.jobServer.kill(t)
		if r := end(); r.exit != 1 || !strings.Contains(r.stderr, "lost the connection to the job server") {
			t.Errorf("exit %d: %s", r.exit, r.stderr)
		}
		if _, err := os.Stat(filepath.Join(got, "_SUCCESS")); err == nil {
			t.Log("the model was there before the driver was lost")
		}
		s.startJobServer()
		publish(t, with(args, s.flags(), to(got))...)
		checkSame(t, got, want)
		noOrphans(t)
	})
}

// executorsWithWorkers waits until executors run our code, and returns one of them.
func executorsWithWorkers(t testing.TB, s *spark) (executor int) {
	t.Helper()
	eventually(t, "an executor with a worker", func() error {
		for _, parent := range workers(t) {
			executor = parent
			return nil
		}
		return errors.New("there is none")
	})
	return executor
}

func killExecutor(t testing.TB, s *spark) {
	t.Helper()
	if err := syscall.Kill(executorsWithWorkers(t, s), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}
