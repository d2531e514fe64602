package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/internal/outside"
)

// The README shows what the command prints. Its console blocks are run in their order, in a folder that has testdata as
// a clone does, and so is its Python block. A first line … stands for any lines. With SPARSENB_UPDATE=1 the README is
// rewritten instead.
func TestReadme(t *testing.T) {
	update := os.Getenv("SPARSENB_UPDATE") != ""
	name := filepath.Join(outside.Root(), "README.md")
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(outside.Root(), "testdata"), filepath.Join(dir, "testdata")); err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(content), "```")
	for i := 1; i < len(blocks); i += 2 {
		kind, body, _ := strings.Cut(blocks[i], "\n")
		switch kind {
		case "console":
			line, want, _ := strings.Cut(body, "\n")
			command := strings.TrimPrefix(strings.TrimPrefix(line, "$ "), "go run ./cmd/")
			args := strings.Fields(command)
			got := output(t, dir, exec.Command(args[0], args[1:]...))
			if rest, ok := strings.CutPrefix(want, anything); ok {
				first, _, _ := strings.Cut(rest, "\n")
				got = anything + got[max(strings.LastIndex(got, "\n"+first+"\n")+1, 0):]
			}
			if update {
				blocks[i] = kind + "\n" + line + "\n" + got
			} else if got != want {
				t.Errorf("%s\nprints\n%s\nthe README has\n%s", command, got, want)
			}
		case "python":
			t.Run("python", func(t *testing.T) {
				got := output(t, dir, exec.Command(outside.Python(t), "-c", body))
				if want := strings.TrimPrefix(blocks[i+2], "\n"); got != want {
					t.Errorf("the script prints\n%s\nthe README has\n%s", got, want)
				}
			})
		}
	}
	if update {
		if err := os.WriteFile(name, []byte(strings.Join(blocks, "```")), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func output(t *testing.T, dir string, cmd *exec.Cmd) string {
	t.Helper()
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v: %s", cmd.Args, err, stderr.String())
	}
	return string(out)
}

// anything is a first line that stands for all lines before the second.
const anything = "…\n"
