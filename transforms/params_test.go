package transforms

import (
	"github.com/sparsenb/sparsenb/io/corpusio"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/transforms/kernel"
	"github.com/sparsenb/sparsenb/transforms/spill"
)

// Each change makes valid parameters invalid, and the error names the field.
func TestParamsAreValidated(t *testing.T) {
	job := spill.Params{ID: "job"}
	count := func(change func(*CountParams)) error {
		p := CountParams{Job: job, Shards: 1, Reading: corpusio.Reading{MaxRecordBytes: 1000}}
		change(&p)
		return p.Validate()
	}
	merge := func(change func(*MergeParams)) error {
		p := MergeParams{Job: job, Run: modelio.Run{ID: "run"}, Output: "out", Shards: 1}
		change(&p)
		return p.Validate()
	}
	read := func(change func(*ReadParams)) error {
		p := ReadParams{Run: modelio.Run{ID: "run"}, Output: "out", Source: countio.Source{Dir: "counts"}, Classes: []modelio.Class{{Label: "a"}, {Label: "b"}}}
		change(&p)
		return p.Validate()
	}
	for i, c := range []struct {
		err  error
		want string // "" is no error
	}{
		{count(func(*CountParams) {}), ""},
		{count(func(p *CountParams) { p.HashBits, p.StopWords = kernel.MaxHashBits, []string{"the"} }), ""},
		{count(func(p *CountParams) { p.Job.ID = "" }), "Job.ID"},
		{count(func(p *CountParams) { p.Job.MemoryBytes = -1 }), "Job.MemoryBytes"},
		{count(func(p *CountParams) { p.Shards = 0 }), "Shards"},
		{count(func(p *CountParams) { p.Reading.MaxRecordBytes = 0 }), "MaxRecordBytes"},
		{count(func(p *CountParams) { p.Analyzer.Min, p.Analyzer.Max = 3, 2 }), "n-grams of 3 to 2"},
		{count(func(p *CountParams) { p.Reading.MaxRecordBytes = 2 << 30 }), "MaxRecordBytes"},
		{count(func(p *CountParams) { p.HashBits = kernel.MaxHashBits + 1 }), "HashBits"},
		{count(func(p *CountParams) { p.HashBits = -1 }), "HashBits"},
		{count(func(p *CountParams) { p.Analyzer.Unit, p.StopWords = kernel.Char, []string{"the"} }), "StopWords"},
		{count(func(p *CountParams) { p.MaxClasses = -1 }), "MaxClasses"},
		{count(func(p *CountParams) { p.Threads = -1 }), "Threads"},
		{count(func(p *CountParams) { p.BlockBytes = -1 }), "BlockBytes"},
		{merge(func(*MergeParams) {}), ""},
		{merge(func(p *MergeParams) { p.Job.ID = "" }), "Job.ID"},
		{merge(func(p *MergeParams) { p.Run.ID = "" }), "Run"},
		{merge(func(p *MergeParams) { p.Output = "" }), "Output"},
		{merge(func(p *MergeParams) { p.Shards = 0 }), "Shards"},
		{merge(func(p *MergeParams) { p.HashBits = -1 }), "HashBits"},
		{merge(func(p *MergeParams) { p.Threads = -1 }), "Threads"},
		{read(func(*ReadParams) {}), ""},
		{read(func(p *ReadParams) { p.Run.ID = "" }), "Run"},
		{read(func(p *ReadParams) { p.Output = "" }), "Output"},
		{read(func(p *ReadParams) { p.Source = countio.Source{} }), "Source"},
		{read(func(p *ReadParams) { p.Classes = nil }), "Classes"},
		{read(func(p *ReadParams) { p.Classes[0].Label = "c" }), "sorted"},
		{read(func(p *ReadParams) { p.Threads = -1 }), "Threads"},
	} {
		if (c.err == nil) != (c.want == "") || c.err != nil && !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("case %d: %v, want %q", i, c.err, c.want)
		}
	}
}
