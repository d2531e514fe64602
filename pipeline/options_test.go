package pipeline

import (
	"maps"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/transforms"
	"github.com/sparsenb/sparsenb/transforms/kernel"
	"github.com/sparsenb/sparsenb/verify"
)

// Every field of Documents reaches a step, and the options of the manifest unless it cannot change the result.
func TestFieldsOfDocumentsHaveAnEffect(t *testing.T) {
	base := Documents{Reading: corpusio.Reading{MaxRecordBytes: 1}, Shards: 1}
	changed := Documents{
		Files: []corpusio.File{{}}, Analyzer: kernel.Analyzer{Min: 2, Max: 3}, HashBits: 5, StopWords: []string{"the"}, Reading: corpusio.Reading{MaxRecordBytes: 2},
		Rejects: transforms.Rejects{Output: "rejects"}, MaxClasses: 3, Shards: 4, Tuning: Tuning{Threads: 2}, Weights: kernel.Weights{Scheme: kernel.Log, Exponent: -20},
	}
	changed.MaxRejected.Text = "1%"
	run := modelio.Run{ID: "run"}
	for i := range reflect.TypeFor[Documents]().NumField() {
		d, name := base, reflect.TypeFor[Documents]().Field(i).Name
		reflect.ValueOf(&d).Elem().Field(i).Set(reflect.ValueOf(changed).Field(i))
		if reflect.DeepEqual(d, base) {
			t.Errorf("%s: the test does not change it", name)
		}
		if reflect.DeepEqual(d.countParams(run), base.countParams(run)) && reflect.DeepEqual(d.reconcileParams(run), base.reconcileParams(run)) {
			t.Errorf("%s reaches no step", name)
		}
		option := name != "Files" && name != "Tuning" // the fingerprint has the files; tuning does not change the result
		if got := NewRun("count", "", &d, nil, nil).Options; maps.Equal(got, NewRun("count", "", &base, nil, nil).Options) == option {
			t.Errorf("%s: options %v", name, got)
		}
	}
}

// A model whose row says another method than the counts support is not verified, whichever row of the problem it is.
func TestVerifyReadsEveryRow(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	if err := trainOn(localRunners["direct"], dir, documents(t, federalist), choose(t, "Hamilton", "3", "10")); err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(m *modelio.ModelRow){
		func(m *modelio.ModelRow) {},
		func(m *modelio.ModelRow) { m.Method = "chi2" },
		func(m *modelio.ModelRow) { m.Model = "bernoulli" },
		func(m *modelio.ModelRow) { m.Model = "other" },
	} {
		run := read(t, dir)
		before := run.Models[1]
		change(&run.Models[1])
		if _, err := verify.Contents(t.Context(), run); (err == nil) != (before == run.Models[1]) {
			t.Errorf("%+v: %v", run.Models[1], err)
		}
	}
}
