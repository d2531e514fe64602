package selection

import (
	"os/exec"
	"strings"
	"testing"
)

// The solver and the selection are libraries that run without Beam.
func TestImportsNoBeam(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".", "../solver/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.Lines(string(out)) {
		if strings.Contains(name, "beam/sdks") {
			t.Errorf("imports %s", strings.TrimSpace(name))
		}
	}
}
