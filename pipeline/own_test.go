package pipeline

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
	"github.com/sparsenb/sparsenb/verify"
)

// The same counts give the same bytes and the same sums, in wide tables and in long ones, in any order of the rows.
func TestSelectFromTablesOfAnyShape(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	var wide, long []string
	for i := range 300 {
		a, b := math.Exp(20*rng.Float64()-5), float64(rng.IntN(3))
		wide = append(wide, fmt.Sprintf("word%d,%v,%v\n", i, a, b))
		long = append(long, fmt.Sprintf("word%d,Hamilton,%v\n", i, a))
		if b > 0 {
			long = append(long, fmt.Sprintf("word%d,Madison,%v\n", i, b))
		}
	}
	var files, tokens []string
	for range 4 {
		for head, rows := range map[string][]string{"feature,Hamilton,Madison\n": wide, "feature,class,count\n": long} {
			rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
			table := save(t, "counts.csv", head+strings.Join(rows, ""))
			dir := filepath.Join(t.TempDir(), "out")
			if err := runSelect(t, dir, table, map[string]int64{"Hamilton": 51, "Madison": 14}, choose(t, "Hamilton", "7", "100")); err != nil {
				t.Fatal(err)
			}
			if _, err := verify.Run(t.Context(), dir); err != nil {
				t.Error(err)
			}
			files = append(files, fmt.Sprint(sums(t, dir)))
			classes := read(t, dir).Manifest.Classes
			tokens = append(tokens, fmt.Sprint(classes[0].Tokens, classes[0].Postings, classes[1].Tokens, classes[1].Postings))
		}
	}
	if files, tokens := slices.Compact(files), slices.Compact(tokens); len(files) != 1 || len(tokens) != 1 {
		t.Errorf("%q\n%q", files, tokens)
	}
}

// The parts of a run, joined in any order, are a custom table with the same result as the run.
func TestSelectFromExportedCounts(t *testing.T) {
	counted := filepath.Join(t.TempDir(), "counted")
	d := documents(t, federalist)
	d.Shards = 3
	if err := runCount(t, counted, d); err != nil {
		t.Fatal(err)
	}
	table := "feature_id,documents,count,class,feature\n"
	for _, part := range []int{2, 0, 1} {
		err := tableio.Read(t.Context(), filepath.Join(counted, countio.PartName(part, 3)), func(r *countio.Row) error {
			table += fmt.Sprintf("%d,%d,%d,%s,%s\n", r.FeatureID, r.Documents, r.Count, r.Class, r.Feature)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	exported := save(t, "counts.csv", table)
	for _, model := range []string{"multinomial", "bernoulli"} {
		sel := choose(t, "Hamilton", "5", "10")
		sel.Model = parseModel(t, model)
		a, b := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "out")
		if err := runSelect(t, a, counted, nil, sel); err != nil {
			t.Fatal(err)
		}
		if err := runSelect(t, b, exported, map[string]int64{"Hamilton": 51, "Madison": 14}, sel); err != nil {
			t.Fatal(err)
		}
		// A custom table has no analyzer; the model of a run has it in its metadata.
		sa, sb := sums(t, a), sums(t, b)
		delete(sa, modelio.ModelFile)
		delete(sb, modelio.ModelFile)
		if !maps.Equal(sa, sb) || !reflect.DeepEqual(read(t, a).Models, read(t, b).Models) {
			t.Errorf("%s: the files differ", model)
		}
		if !reflect.DeepEqual(read(t, a).Manifest.Classes, read(t, b).Manifest.Classes) {
			t.Errorf("%s: %+v and %+v", model, read(t, a).Manifest.Classes, read(t, b).Manifest.Classes)
		}
		if _, err := verify.Run(t.Context(), b); err != nil {
			t.Error(err)
		}
	}
}
