package kernel

import (
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/io/modelio"
)

func TestScriptsWithoutSpaces(t *testing.T) {
	word := modelio.Analysis{Unit: "word"}
	for _, c := range []struct {
		words string
		a     modelio.Analysis
		want  string
	}{
		{"人人生而自由 在尊严和权利上一律平等 他们赋有理性和良心", word, "about 100% of the text"},
		{"人人 生而 自由 在 尊严 和 权利 上 一律 平等", word, ""}, // segmented
		{"มน ษย ท งหลายเก ดมาม อ สระ", word, "about 100% of the text"},
		{"すべての人間は生まれながらにして自由であり human rights", word, "of the text"},
		{"human beings are born free and equal in dignity and rights 人人生而自由", word, ""},
		{"모든 인간은 태어날 때부터 자유로우며", word, ""},
		{"все люди рождаются свободными", word, ""},
		{"人人生而自由", modelio.Analysis{Unit: "unicode"}, ""},
		{"人人生而自由", modelio.Analysis{Unit: "word", HashBits: 3}, ""},
		{"", word, ""},
	} {
		var l Letters
		for _, w := range strings.Fields(c.words) {
			l.Add([]byte(w), 2)
		}
		if got := l.Warning(c.a); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q", c.words, got)
		}
	}
}
