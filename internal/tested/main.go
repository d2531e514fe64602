// Command tested runs go test and remembers what it ran and what it skipped, so that "make test" can say so at the end:
//
//	tested LOG go test ARGUMENT…    runs the tests, shows failures, and adds to LOG
//	tested LOG                      shows what LOG has
//
// LOG has a line for each: "package NAME", "test NAME", "fuzz NAME", and "skip NAME<TAB>REASON".
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

func main() {
	err := run(os.Args[1:])
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) { // of tests that failed, all is said
		fmt.Fprintln(os.Stderr, "tested:", err)
	}
	if err != nil {
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 || len(args) == 2 {
		return fmt.Errorf("usage: tested LOG [go test ARGUMENT…]")
	}
	if len(args) == 1 {
		log, err := os.ReadFile(args[0])
		if err == nil {
			_, err = io.WriteString(os.Stdout, summary(string(log)))
		}
		return err
	}
	log, err := os.OpenFile(args[0], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	cmd := exec.Command(args[1], append([]string{args[2], "-json"}, args[3:]...)...)
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := follow(events, os.Stdout, log, slices.Contains(args, "-v")); err != nil {
		return err
	}
	if err := log.Close(); err != nil {
		return err
	}
	return cmd.Wait()
}

// event is a line of go test -json; "go doc test2json" explains it.
type event struct{ Action, Package, Test, Output string }

// follow shows what go test would show, and logs what ran and what was skipped.
func follow(events io.Reader, show, log io.Writer, verbose bool) error {
	outputs := map[[2]string][]string{}
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil { // what go itself says
			fmt.Fprintln(show, lines.Text())
			continue
		}
		id := [2]string{e.Package, e.Test}
		switch {
		case e.Action == "build-output", e.Action == "output" && e.Test == "" && e.Output != "PASS\n":
			io.WriteString(show, e.Output)
		case e.Action == "output":
			outputs[id] = append(outputs[id], e.Output)
			if verbose {
				io.WriteString(show, e.Output)
			}
		case e.Test == "":
			if e.Action == "pass" || e.Action == "fail" {
				fmt.Fprintln(log, "package", e.Package)
			}
		case e.Action == "skip":
			fmt.Fprintf(log, "skip %s\t%s\n", e.Test, reason(outputs[id]))
		case e.Action == "pass", e.Action == "fail":
			if e.Action == "fail" && !verbose {
				io.WriteString(show, strings.Join(outputs[id], ""))
			}
			if !strings.Contains(e.Test, "/") {
				fmt.Fprintln(log, "test", e.Test)
			}
			delete(outputs, id)
		}
	}
	return lines.Err()
}

// reason is what a test said when it skipped itself, without the file and the line.
func reason(output []string) string {
	for _, line := range output {
		if place, message, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && strings.Contains(place, ".go:") {
			return message
		}
	}
	return "no reason given"
}

// summary is one line for what ran, and one for each reason for which something did not.
func summary(log string) string {
	ran := map[string]int{}
	skipped := map[string][]string{}
	for line := range strings.Lines(log) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if kind != "skip" {
			ran[kind]++
			continue
		}
		name, why, _ := strings.Cut(rest, "\t")
		if !slices.Contains(skipped[why], name) {
			skipped[why] = append(skipped[why], name)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "ran %d tests of %d packages and %d fuzz tests\n", ran["test"], ran["package"], ran["fuzz"])
	var reasons []string
	for why := range skipped {
		reasons = append(reasons, why)
	}
	slices.Sort(reasons)
	for _, why := range reasons {
		slices.Sort(skipped[why])
		fmt.Fprintf(&b, "skipped %s: %s\n", strings.Join(skipped[why], ", "), why)
	}
	if len(skipped) == 0 {
		b.WriteString("skipped nothing\n")
	}
	return b.String()
}
