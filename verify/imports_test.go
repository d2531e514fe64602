package verify

import (
	"os/exec"
	"strings"
	"testing"
)

// Verifying and selecting run where there is no pipeline, and start without what Beam registers.
func TestImportsNoBeam(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".", "../selection").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.Lines(string(out)) {
		if strings.Contains(name, "beam/sdks") {
			t.Errorf("imports %s", strings.TrimSpace(name))
		}
	}
}
