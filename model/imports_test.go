package model_test

import (
	"os/exec"
	"strings"
	"testing"
)

// Services apply models without Beam.
func TestImportsNoBeam(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.Lines(string(out)) {
		if strings.Contains(name, "beam/sdks") {
			t.Errorf("imports %s", strings.TrimSpace(name))
		}
	}
}
