package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	_ "github.com/sparsenb/sparsenb/internal/faulty"
	"github.com/sparsenb/sparsenb/internal/outside"
)

// The test binary runs as the command if it is called by that name.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"sparsenb": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join(outside.Root(), "testdata", "script"),
		Setup: func(env *testscript.Env) error {
			env.Setenv("TESTDATA", filepath.Join(outside.Root(), "testdata"))
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":     exits,
			"lines":     lines,
			"published": published,
		},
	})
}

// exits CODE COMMAND… runs the command and checks its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// lines FILE N checks the number of lines of a file.
func lines(ts *testscript.TestScript, neg bool, args []string) {
	n := 0
	for _, c := range ts.ReadFile(args[0]) {
		if c == '\n' {
			n++
		}
	}
	if strconv.Itoa(n) != args[1] {
		ts.Fatalf("%s has %d lines, want %s", args[0], n, args[1])
	}
}

// published DIR checks that a run is published in a folder; ! published DIR, that none is.
func published(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range []string{"_SUCCESS", "manifest.json"} {
		_, err := os.Stat(filepath.Join(ts.MkAbs(args[0]), name))
		if neg == (err == nil) {
			ts.Fatalf("%s in %s: %v", name, args[0], err)
		}
	}
}

// The first page of help lists every command.
func TestHelpListsCommands(t *testing.T) {
	for _, c := range commands() {
		if c.name != train.name && !strings.Contains(train.manual, "\n  "+c.name+" ") {
			t.Errorf("%s is missing", c.name)
		}
	}
}
