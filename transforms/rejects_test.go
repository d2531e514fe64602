package transforms

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/modelio"
)

func TestSample(t *testing.T) {
	for _, c := range []struct{ record, want string }{
		{"", ""},
		{"short", "short"},
		{"a\xffb", "a\ufffdb"},
		{strings.Repeat("x", maxSample+1), strings.Repeat("x", maxSample)},
		{strings.Repeat("x", maxSample-1) + "é", strings.Repeat("x", maxSample-1)},
		{"x" + strings.Repeat("\xff\x00", maxSample), ""},
	} {
		got := sample([]byte(c.record))
		if c.want != "" && got != c.want && strings.TrimSuffix(got, "\ufffd") != c.want || len(got) > maxSample || !utf8.ValidString(got) {
			t.Errorf("%.20q: %d bytes, %.20q", c.record, len(got), got)
		}
	}
}

// Of more rejections than are kept, the first by file and offset are left, in any order of adding.
func TestRejectedAreBounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	var want []modelio.RejectedRow
	for round := range 3 {
		var total Totals
		for _, i := range rng.Perm(30) {
			var part Totals
			for j := range maxRejected / 10 {
				part.Rejected = append(part.Rejected, modelio.RejectedRow{Source: fmt.Sprint("file", i%3), Offset: int64(j*30 + i), Reason: "no_tab"})
			}
			total.add(part)
			if len(total.Rejected) > 2*maxRejected {
				t.Fatalf("%d rows are kept", len(total.Rejected))
			}
		}
		total.normalize()
		if round == 0 {
			want = total.Rejected
		}
		if len(total.Rejected) != maxRejected || !reflect.DeepEqual(total.Rejected, want) || want[0].Source != "file0" || want[maxRejected-1].Source != "file0" {
			t.Fatalf("%d rows, the last %+v", len(total.Rejected), total.Rejected[len(total.Rejected)-1])
		}
	}
}

func TestSimilarLabels(t *testing.T) {
	for labels, want := range map[string]string{
		"a,b":                               "[]",
		"-1,1":                              "[]",
		":(,:)":                             "[]",
		"C,C++,C#":                          "[]",
		"1,1.0":                             "[1 and 1.0]",
		"1e0,1.":                            "[1e0 and 1.]",
		"Spam,spam":                         "[Spam and spam]",
		`"pos",pos,neg.`:                    `["\"pos\"" and pos]`,
		"0.10,.1,0.1,00.1,a":                "[0.10 and .1 0.10 and 0.1 0.10 and 00.1]",
		"1234567890123456,1234567890123457": "[]",
	} {
		var classes []modelio.Class
		for _, label := range strings.Split(labels, ",") {
			classes = append(classes, modelio.Class{Label: label})
		}
		if got := fmt.Sprint(similarLabels(classes)); got != want {
			t.Errorf("%s: %s, want %s", labels, got, want)
		}
	}
}

func TestLabelMapWithoutUse(t *testing.T) {
	others := corpusio.LabelCounts{ByName: map[string]int64{"left out": 1}, Limit: "m"}
	got := labelWarnings([]modelio.Class{{Label: "x"}}, others, map[string]string{"a": "x", "b": "left out", "c": "never", "d": "b", "e": "b"})
	if want := "[--label_map: no document has a label that is renamed to b]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}
