package pipeline

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/transforms/kernel"
	"github.com/sparsenb/sparsenb/verify"
)

// tally counts the occurrences and the documents of a feature in a class.
type tally struct{ Count, Documents int64 }

// countsOf reads the counts of a run, by feature and class.
func countsOf(t testing.TB, dir string) map[string]map[string]tally {
	t.Helper()
	counts := map[string]map[string]tally{}
	parts, err := filepath.Glob(filepath.Join(dir, "counts", "*.parquet"))
	if err != nil || len(parts) == 0 {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
	for _, part := range parts {
		err := tableio.Read(t.Context(), part, func(r *countio.Row) error {
			if counts[r.Feature] == nil {
				counts[r.Feature] = map[string]tally{}
			}
			counts[r.Feature][r.Class] = tally{r.Count, r.Documents}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return counts
}

// The counts of a bucket are the sums over the names that hash to it. buckets.parquet lists these names.
func TestBucketsAddUp(t *testing.T) {
	pattern := spread(t, corpus(t), 3, "")
	for _, analyzer := range []kernel.Analyzer{{}, {Min: 1, Max: 2}, {Unit: kernel.CharWB, Min: 2, Max: 4}} {
		byName := filepath.Join(t.TempDir(), "names")
		d := documents(t, pattern)
		d.Analyzer = analyzer
		if err := runCount(t, byName, d); err != nil {
			t.Fatal(err)
		}
		names := countsOf(t, byName)
		for _, bits := range []int{1, 9, 32} {
			dir := filepath.Join(t.TempDir(), "out")
			d.HashBits = bits
			if err := runTrain(t, dir, d, choose(t, "Hamilton", "1", "5%")); err != nil {
				t.Fatal(err)
			}
			want, members := hashed(names, bits)
			got := countsOf(t, dir)
			for bucket, classes := range want {
				for class, n := range classes {
					// A document with two names of a bucket counts once.
					g := got[bucket][class]
					if g.Count != n.Count || g.Documents > n.Documents || len(members[bucket]) == 1 && g != n {
						t.Fatalf("%d bits: bucket %s is counted %+v in %s; its names %+v", bits, bucket, g, class, n)
					}
				}
			}
			if len(got) != len(want) {
				t.Errorf("%d bits: %d buckets, want %d", bits, len(got), len(want))
			}
			checkNames(t, read(t, dir), members)
			if checks, err := verify.Run(t.Context(), dir); err != nil || !strings.HasPrefix(checks[len(checks)-1], "the names of ") {
				t.Errorf("%d bits: verified %q, %v", bits, checks, err)
			}
		}
	}
}

// hashed sums the counts of names by bucket, and lists the names in each bucket with their occurrences.
func hashed(names map[string]map[string]tally, bits int) (counts map[string]map[string]tally, members map[string]map[string]int64) {
	counts, members = map[string]map[string]tally{}, map[string]map[string]int64{}
	for name, classes := range names {
		key, _ := feature.Hash([]byte(name))
		bucket := string(kernel.AppendBucket(nil, key, bits))
		if counts[bucket] == nil {
			counts[bucket], members[bucket] = map[string]tally{}, map[string]int64{}
		}
		for class, n := range classes {
			sum := counts[bucket][class]
			counts[bucket][class] = tally{sum.Count + n.Count, sum.Documents + n.Documents}
			members[bucket][name] += n.Count
		}
	}
	return counts, members
}

// checkNames compares buckets.parquet with all names in the buckets.
func checkNames(t *testing.T, p modelio.Published, members map[string]map[string]int64) {
	t.Helper()
	listed := map[string][]modelio.BucketRow{}
	for _, row := range p.Buckets {
		listed[row.Feature] = append(listed[row.Feature], row)
	}
	for _, f := range p.Features {
		of := members[f.Feature]
		least := int64(0) // of those that are listed
		for _, row := range listed[f.Feature] {
			if of[row.Name] != row.Count || row.Names != int64(len(of)) {
				t.Fatalf("%+v, want %d of %d names", row, of[row.Name], len(of))
			}
			least = row.Count
		}
		if n := len(listed[f.Feature]); n != min(len(of), 10) {
			t.Fatalf("bucket %s: %d names are listed, want %d", f.Feature, n, len(of))
		}
		more := 0
		for _, n := range of {
			if n > least {
				more++
			}
		}
		if more >= min(len(of), 10) {
			t.Fatalf("bucket %s: the listed names are not the most frequent", f.Feature)
		}
	}
}

// Buckets with several classes, every strategy, and selection from hashed counts.
func TestBucketsOfSeveralClasses(t *testing.T) {
	text, _ := multiclassCorpus(rand.New(rand.NewPCG(8, 8)), []string{"a", "b", "c", "d"}, 400)
	d := documents(t, spread(t, text, 3, ""))
	byName := filepath.Join(t.TempDir(), "names")
	if err := runCount(t, byName, d); err != nil {
		t.Fatal(err)
	}
	d.HashBits = 5
	_, members := hashed(countsOf(t, byName), d.HashBits)
	for _, strategy := range []string{"ovr", "ovo", "joint"} {
		for _, model := range []string{"multinomial", "bernoulli"} {
			sel := choose(t, "", "2", "7")
			sel.Strategy, sel.Model, sel.Smoothing = selection.Strategy(strategy), parseModel(t, model), []float64{0.5, 1}
			trained, selected := filepath.Join(t.TempDir(), "t"), filepath.Join(t.TempDir(), "s")
			if err := runTrain(t, trained, d, sel); err != nil {
				t.Fatalf("%s %s: %v", strategy, model, err)
			}
			checkNames(t, read(t, trained), members)
			if err := runSelect(t, selected, trained, nil, sel); err != nil {
				t.Fatalf("%s %s: %v", strategy, model, err)
			}
			for _, dir := range []string{trained, selected} {
				if checks, err := verify.Run(t.Context(), dir); err != nil {
					t.Errorf("%s %s: %v: %v", strategy, model, checks, err)
				}
			}
			s, want := read(t, selected), read(t, trained)
			if !reflect.DeepEqual(s.Features, want.Features) || len(s.Buckets) > 0 || s.Manifest.Options["hash_bits"] != "5" {
				t.Errorf("%s %s: selected from counts, the features differ, or the options do: %v", strategy, model, s.Manifest.Options)
			}
		}
	}
}

// Verification recomputes buckets.parquet.
func TestVerifyReadsTheNames(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "out")
	d := documents(t, federalist)
	d.HashBits = 10 // about eight names a bucket, and some with more than ten
	if err := runTrain(t, whole, d, choose(t, "", "200")); err != nil {
		t.Fatal(err)
	}
	p := read(t, whole)
	at := func(ok func(r modelio.BucketRow) bool) int {
		t.Helper()
		i := slices.IndexFunc(p.Buckets, ok)
		if i < 0 {
			t.Fatal("no such bucket")
		}
		return i
	}
	// The first row of a bucket with several names, of two equally frequent names, and of a bucket with more names than are listed.
	some := at(func(r modelio.BucketRow) bool { return r.Names == 4 })
	tied := at(func(r modelio.BucketRow) bool {
		return r.Rank > 1 && r.Names <= 10 && r.Count == 1 && r.Rank == r.Names-1
	})
	many := at(func(r modelio.BucketRow) bool { return r.Names > 10 })
	for what, lie := range map[string]func(rows []modelio.BucketRow) []modelio.BucketRow{
		"another name":   func(r []modelio.BucketRow) []modelio.BucketRow { r[some].Name += "x"; return r },
		"another bucket": func(r []modelio.BucketRow) []modelio.BucketRow { r[some].Feature = r[many].Feature; return r },
		"another id":     func(r []modelio.BucketRow) []modelio.BucketRow { r[some+1].FeatureID++; return r },
		"rank":           func(r []modelio.BucketRow) []modelio.BucketRow { r[some+1].Rank++; return r },
		"order": func(r []modelio.BucketRow) []modelio.BucketRow {
			r[some].Name, r[some+1].Name = r[some+1].Name, r[some].Name
			r[some].Count, r[some+1].Count = r[some+1].Count, r[some].Count
			r[some].Share, r[some+1].Share = r[some+1].Share, r[some].Share
			return r
		},
		"order of ties": func(r []modelio.BucketRow) []modelio.BucketRow {
			r[tied].Name, r[tied+1].Name = r[tied+1].Name, r[tied].Name
			return r
		},
		"count": func(r []modelio.BucketRow) []modelio.BucketRow { r[some].Count++; return r },
		"shift": func(r []modelio.BucketRow) []modelio.BucketRow {
			total := float64(r[some].Count) / r[some].Share
			r[some].Count++
			r[some].Share = float64(r[some].Count) / total
			return r
		},
		"fewer than there are": func(r []modelio.BucketRow) []modelio.BucketRow {
			total := float64(r[some].Count) / r[some].Share
			r[some].Count--
			r[some].Share = float64(r[some].Count) / total
			return r
		},
		"more than there are": func(r []modelio.BucketRow) []modelio.BucketRow {
			total := float64(r[many].Count) / r[many].Share
			r[many].Count += 1000
			r[many].Share = float64(r[many].Count) / total
			return r
		},
		"share":           func(r []modelio.BucketRow) []modelio.BucketRow { r[some].Share += 1e-9; return r },
		"names":           func(r []modelio.BucketRow) []modelio.BucketRow { r[some+3].Names++; return r },
		"names of all":    func(r []modelio.BucketRow) []modelio.BucketRow { return set(r, some, 4, 5) },
		"too many names":  func(r []modelio.BucketRow) []modelio.BucketRow { return set(r, many, 10, 1e6) },
		"a name is gone":  func(r []modelio.BucketRow) []modelio.BucketRow { return slices.Delete(r, some+3, some+4) },
		"a name is twice": func(r []modelio.BucketRow) []modelio.BucketRow { return slices.Insert(r, some, r[some]) },
		"a bucket is gone": func(r []modelio.BucketRow) []modelio.BucketRow {
			return slices.Delete(r, some, some+4)
		},
		"a bucket has moved": func(r []modelio.BucketRow) []modelio.BucketRow {
			rows := slices.Clone(r[some : some+4])
			r = slices.Delete(r, some, some+4)
			if some == 0 {
				return append(r, rows...)
			}
			return append(rows, r...)
		},
		"a bucket that nobody counted": func(r []modelio.BucketRow) []modelio.BucketRow {
			for i := range 4 {
				r[some+i].Feature = "ffff"
			}
			return r
		},
		"a bucket is twice": func(r []modelio.BucketRow) []modelio.BucketRow {
			return append(r, r[some:some+4]...)
		},
		"fewer names than there are": func(r []modelio.BucketRow) []modelio.BucketRow {
			return slices.Delete(r, many+9, many+10)
		},
		"nothing is left": func(r []modelio.BucketRow) []modelio.BucketRow { return []modelio.BucketRow{} },
	} {
		dir := filepath.Join(t.TempDir(), "copy")
		if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		q := p
		q.Dir, q.Buckets = dir, lie(slices.Clone(p.Buckets))
		q.Manifest.Files = slices.Clone(p.Manifest.Files)
		republish(t, q)
		if _, err := verify.Run(t.Context(), dir); exitOf(err) != modelio.ExitData {
			t.Errorf("%s: %v", what, err)
		}
	}
	// A missing file.
	dir := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
		t.Fatal(err)
	}
	q := p
	q.Dir, q.Buckets = dir, nil
	q.Manifest.Files = slices.Clone(p.Manifest.Files)
	republish(t, q)
	_, err := verify.Run(t.Context(), dir)
	contains(t, err, "has no names")
}

// set sets the number of names in n rows.
func set(rows []modelio.BucketRow, at, n int, names int64) []modelio.BucketRow {
	for i := range n {
		rows[at+i].Names = names
	}
	return rows
}

// The same input gives the same bytes, also with n-grams and buckets, for any memory and number of threads.
func TestSameInputSameBytesOfNgrams(t *testing.T) {
	lines, temp := corpus(t), t.TempDir()
	for name, of := range map[string]struct {
		analyzer kernel.Analyzer
		bits     int
	}{
		"pairs of words":             {kernel.Analyzer{Min: 1, Max: 2}, 0},
		"characters within words":    {kernel.Analyzer{Unit: kernel.CharWB, Min: 3, Max: 5}, 0},
		"words in buckets":           {kernel.Analyzer{}, 12},
		"pairs of words in buckets":  {kernel.Analyzer{Min: 1, Max: 2}, 16},
		"characters in many buckets": {kernel.Analyzer{Unit: kernel.Char, Min: 2, Max: 3}, 32},
	} {
		train := func(pattern string, tuning Tuning) map[string]string {
			t.Helper()
			dir := filepath.Join(t.TempDir(), "out")
			d := documents(t, pattern)
			d.Analyzer, d.HashBits, d.Tuning = of.analyzer, of.bits, tuning
			if err := runTrain(t, dir, d, choose(t, "Hamilton", "5", "1%")); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return sums(t, dir)
		}
		whole, six := spread(t, lines, 1, ""), spread(t, shuffled(lines), 6, ".gz")
		want := train(whole, Tuning{Threads: 1, RangeBytes: 1 << 40})
		if _, ok := want[modelio.BucketsFile]; ok != (of.bits > 0) {
			t.Errorf("%s: there is a %s: %v", name, modelio.BucketsFile, ok)
		}
		for how, tuning := range map[string]Tuning{
			"small blocks":    {Threads: 2, RangeBytes: 4 << 10, MemoryBytes: flushing, BlockBytes: 4 << 10},
			"runs in memory":  {Threads: 3, RangeBytes: 16 << 10, Spill: true, TempDir: temp},
			"temporary files": {Threads: 5, RangeBytes: 4 << 10, MemoryBytes: 2 * flushing, BlockBytes: 4 << 10, Spill: true, TempDir: temp},
		} {
			if got := train(six, tuning); !maps.Equal(got, want) {
				t.Errorf("%s, %s: other bytes in %s", name, how, differing(got, want))
			}
		}
	}
}
