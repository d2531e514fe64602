package pipeline

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/transforms/kernel"
)

func checkInvalid(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("%v, want no error", err)
	case want != "" && (exitOf(err) != modelio.ExitUsage || !strings.HasPrefix(err.Error(), want)):
		t.Errorf("%v, want %q with exit code %d", err, want, modelio.ExitUsage)
	}
}

func TestValidateDocuments(t *testing.T) {
	for _, c := range []struct {
		change func(*Documents)
		want   string
	}{
		{func(d *Documents) {}, ""},
		{func(d *Documents) { d.Analyzer.Min, d.Analyzer.Max = 1, MaxNgram }, "--ngrams=1,100: the features of one document"}, // 2·5050·8 MiB
		{func(d *Documents) { d.Analyzer.Min, d.Analyzer.Max, d.Reading.MaxRecordBytes = 1, MaxNgram, 1000 }, ""},
		{func(d *Documents) { d.Analyzer.Min, d.Analyzer.Max = 2, 1 }, "--ngrams=2,1: must be MIN,MAX"},
		{func(d *Documents) { d.Analyzer.Max = MaxNgram + 1 }, "--ngrams=0,101: must be MIN,MAX"},
		{func(d *Documents) { d.HashBits = kernel.MaxHashBits }, ""},
		{func(d *Documents) { d.HashBits = kernel.MaxHashBits + 1 }, "--hash_bits=33: must be 0 to 32"},
		{func(d *Documents) { d.HashBits = -1 }, "--hash_bits=-1: "},
		{func(d *Documents) { d.StopWords = []string{"the"} }, ""},
		{func(d *Documents) { d.StopWords, d.Analyzer.Unit = []string{"the"}, kernel.Char }, "--stop_words: requires --analyzer=word, unicode"},
		{func(d *Documents) { d.Reading.MaxRecordBytes = 0 }, "--max_record_bytes=0: "},
		{func(d *Documents) { d.Reading.MaxRecordBytes = MaxRecordBytes + 1 }, "--max_record_bytes=268435457: "},
		{func(d *Documents) { d.MaxRejected.Text = "" }, "--max_rejected: "},
		{func(d *Documents) { d.MaxClasses = -1 }, "--max_classes=-1: "},
		{func(d *Documents) { d.Reading.MaxExpansion = -1 }, "--max_expansion_ratio=-1: "},
		{func(d *Documents) { d.Reading.MaxExpansion = MaxExpansion + 1 }, "--max_expansion_ratio=1000000001: "},
		{func(d *Documents) { d.MaxClasses = MaxClasses + 1 }, "--max_classes=10000001: "},
		{func(d *Documents) { d.Shards = 0 }, "--shards=0: must be 1 to 10000"},
		{func(d *Documents) { d.Shards = MaxShards + 1 }, "--shards=10001: "},
		{func(d *Documents) { d.Tuning.BlockBytes = -1 }, "invalid tuning"},
	} {
		d := documents(t, federalist)
		c.change(&d)
		checkInvalid(t, d.Validate(), c.want)
	}
}

func TestValidateSelection(t *testing.T) {
	for _, c := range []struct {
		change func(*selection.Params)
		want   string
	}{
		{func(p *selection.Params) {}, ""},
		{func(p *selection.Params) { p.K = nil }, "--k is required"},
		{func(p *selection.Params) { p.Smoothing = nil }, "--smoothing: at least one"},
		{func(p *selection.Params) { p.Smoothing = []float64{1, -1} }, "--smoothing=-1: must be 0 or"},
		{func(p *selection.Params) { p.Strategy = "" }, "--strategy: "},
		{func(p *selection.Params) { p.Strategy = modelio.Joint }, ""},
		{func(p *selection.Params) { p.Strategy, p.Method = modelio.Joint, solver.Chi2 }, "--method=chi2: "},
		{func(p *selection.Params) { p.Strategy, p.Positive = modelio.Joint, "Hamilton" }, "--positive=Hamilton: "},
		{func(p *selection.Params) { p.K = []selection.K{{Rule: selection.ForGain, Value: 50}} }, ""},
		{func(p *selection.Params) { p.K, p.Method = []selection.K{{Rule: selection.ForGain}}, solver.TMNB }, "--k=auto:gain requires --method=nfs"},
		{func(p *selection.Params) { p.K = []selection.K{{Rule: selection.FDR}} }, "--k=auto:fdr requires --model=bernoulli"},
		{func(p *selection.Params) { p.K, p.Model = []selection.K{{Rule: selection.FDR}}, solver.Bernoulli }, ""},
	} {
		p := choose(t, "", "10")
		c.change(&p)
		checkInvalid(t, p.Validate(), c.want)
	}
}

func TestValidateRunner(t *testing.T) {
	self, err := filepath.Abs("validate_test.go")
	if err != nil {
		t.Fatal(err)
	}
	process := `{"command":"/opt/sparsenb"}`
	for _, c := range []struct {
		runner Runner
		want   string
	}{
		{Runner{}, ""},
		{Runner{Prism: true}, ""},
		{Runner{Endpoint: "localhost:8099", Environment: "PROCESS", Config: process, Parallelism: 4}, ""},
		{Runner{Endpoint: "localhost:8099", Environment: "LOOPBACK"}, ""},
		{Runner{Endpoint: "localhost:8099"}, "--environment_type=: must be"},
		{Runner{Endpoint: "localhost:8099", Environment: "EXTERNAL"}, "--environment_type=EXTERNAL: must be"},
		{Runner{Endpoint: "localhost:8099", Environment: "DOCKER"}, "--environment_type=DOCKER requires --environment_config"},
		{Runner{Endpoint: "localhost:8099", Environment: "PROCESS", Config: "{}"}, "--environment_config={}: must be JSON"},
		{Runner{Environment: "PROCESS", Config: `{"command":"` + self + `"}`}, "--environment_config="}, // not executable
		{Runner{Endpoint: "localhost"}, "--endpoint=localhost: must be HOST:PORT"},
		{Runner{Endpoint: ":8099"}, "--endpoint=:8099: "},
		{Runner{Endpoint: "localhost:0"}, "--endpoint=localhost:0: "},
		{Runner{Parallelism: 2}, "--parallelism=2: is for Flink"},
		{Runner{Parallelism: -1}, "--parallelism=-1: "},
		{Runner{StallTimeout: -time.Second}, "--stall_timeout=-1s: "},
		{Runner{Beam: "dataflow", Template: "out"}, "--template_location=out: "},
	} {
		checkInvalid(t, c.runner.Validate(), c.want)
	}
}

// A graph is not built from invalid parameters.
func TestInvalidParametersPanic(t *testing.T) {
	defer func() {
		if text, _ := recover().(string); !strings.HasPrefix(text, "pipeline.Count: --shards=0: ") {
			t.Errorf("panic %q", text)
		}
	}()
	d := documents(t, federalist)
	d.Shards = 0
	if err := runCount(t, t.TempDir(), d); err != nil {
		t.Error(err)
	}
}
