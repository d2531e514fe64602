package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// During a local run the process has no socket, so that nobody can connect to it. A run on Prism has one, through which another
// user of this machine can run commands as the user of the run, as the warning says.
func TestLocalRunOpensNoPort(t *testing.T) {
	for runner, open := range map[string]bool{"": false, "--runner=direct": false, "--runner=prism": true} {
		t.Run(runner, func(t *testing.T) {
			dir := openFolder(t)
			input := filepath.Join(dir, "in.tsv")
			save(t, input, "a\tupon the\nb\twhilst the\n")
			for _, pipe := range []string{input + ".hold", filepath.Join(dir, "proof")} {
				if err := syscall.Mkfifo(pipe, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			args := []string{"--input=faulty://hold=3" + input, "--output=" + filepath.Join(dir, "out"), "--k=1"}
			if runner != "" {
				args = append(args, runner)
			}
			victim := exec.Command("sparsenb", args...)
			if err := victim.Start(); err != nil {
				t.Fatal(err)
			}
			defer end(t, victim)
			hold, err := os.OpenFile(input+".hold", os.O_WRONLY, 0) // returns when the job reads
			if err != nil {
				t.Fatal(err)
			}
			defer hold.Close()

			sockets := socketsOf(t, victim.Process.Pid)
			if (len(sockets) > 0) != open {
				t.Errorf("the sockets of a run that is going: %v", sockets)
			}
			for _, port := range listening(t, victim.Process.Pid, sockets) {
				attack(t, dir, port)
				proof, err := os.ReadFile(filepath.Join(dir, "proof")) // returns when the command has been run
				if user := strings.TrimSpace(string(proof)); err != nil || user == strconv.Itoa(os.Getuid()) && !open {
					t.Errorf("through port %d a command was run as user %s, %v", port, user, err)
				}
			}
		})
	}
}

// attack requests a command as the worker of a job from the server at the port, as another user if possible.
func attack(t *testing.T, dir string, port int) {
	t.Helper()
	command := filepath.Join(dir, "evil.sh")
	save(t, command, "#!/bin/sh\nid -u > "+filepath.Join(dir, "proof")+"\n")
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	save(t, filepath.Join(dir, "sparsenb"), string(self))
	attacker := exec.Command(filepath.Join(dir, "sparsenb"), "count", "--input="+filepath.Join(dir, "in.tsv"), "--output="+filepath.Join(dir, "loot"),
		"--runner=portable", fmt.Sprintf("--endpoint=127.0.0.1:%d", port), "--environment_type=PROCESS", fmt.Sprintf(`--environment_config={"command": %q}`, command))
	if os.Getuid() == 0 {
		const nobody = 65534
		attacker.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	attacker.Dir = dir
	if err := attacker.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { end(t, attacker) }) // it would wait for a worker
}

func end(t *testing.T, cmd *exec.Cmd) {
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); cmd.ProcessState == nil {
		t.Error(err)
	}
}

// openFolder returns a folder that every user may write to.
func openFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for d, mode := range map[string]os.FileMode{dir: 0o777, filepath.Dir(dir): 0o755} {
		if err := os.Chmod(d, mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// save writes a file that every user may read and run.
func save(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}

// socketsOf returns the inodes of the open sockets of a process.
func socketsOf(t *testing.T, pid int) (inodes []string) {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		target, err := os.Readlink(filepath.Join(dir, file.Name()))
		if err != nil {
			continue // closed since
		}
		if inode, ok := strings.CutPrefix(target, "socket:["); ok {
			inodes = append(inodes, strings.TrimSuffix(inode, "]"))
		}
	}
	return inodes
}

// listening returns the TCP ports at which a process listens on all addresses.
func listening(t *testing.T, pid int, sockets []string) (ports []int) {
	t.Helper()
	for _, name := range []string{"tcp", "tcp6"} {
		table, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(table), "\n") {
			const address, state, inode = 1, 3, 9
			f := strings.Fields(line)
			if len(f) <= inode || f[state] != "0A" || !slices.Contains(sockets, f[inode]) {
				continue
			}
			host, port, _ := strings.Cut(f[address], ":")
			n, err := strconv.ParseUint(port, 16, 16)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Trim(host, "0") == "" {
				ports = append(ports, int(n))
			}
		}
	}
	return ports
}
