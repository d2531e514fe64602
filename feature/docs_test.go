package feature

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/internal/outside"
)

// The Python of docs/formats.md is the hash.
func TestPython(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(outside.Root(), "docs", "formats.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(content), "```python\n")
	script, _, _ := strings.Cut(after, "```")
	var names, want strings.Builder
	rng := rand.New(rand.NewPCG(3, 3))
	for n := range 100 {
		for _, letters := range []string{"a", "abcdefghijklmnopqrstuvwxyz", "\x01 ~éßя中"} {
			var name []rune
			for runes := []rune(letters); len(name) < n; {
				name = append(name, runes[rng.IntN(len(runes))])
			}
			fmt.Fprintln(&names, string(name))
			fmt.Fprintln(&want, ID(mustKey(string(name))))
		}
	}
	for _, name := range []string{"upon", "internationalization"} {
		if want := fmt.Sprintf("`%s`%s %d", name, map[string]string{"upon": " is"}[name], ID(mustKey(name))); !strings.Contains(string(content), want) {
			t.Errorf("docs/formats.md does not say %q", want)
		}
	}
	cmd := exec.Command(outside.Python(t), "-c", "import sys\n"+script+
		"\nfor line in sys.stdin.buffer.read().split(b'\\n')[:-1]: print(feature_id(line))\n")
	cmd.Stdin = strings.NewReader(names.String())
	got, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want.String() {
		t.Error("the Python of docs/formats.md finds other ids")
	}
}
