package pipeline

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/verify"
)

// Data that fail a check end in a verdict, with an exit code and one line, and publish nothing.
func TestGates(t *testing.T) {
	good := "Hamilton\tupon the subject\nMadison\twhilst the subject\n"
	var many strings.Builder
	for i := range 201 {
		fmt.Fprintf(&many, "label%d\tsome words\n", i)
	}
	gz := string(packed(t, []byte(strings.Repeat(good, 1000)), ".gz"))
	for name, c := range map[string]struct {
		text     string
		positive string
		exit     int
		want     []string
	}{
		"no tab anywhere":   {"one line\nanother\n", "", modelio.ExitData, []string{"no documents: all 2 records are malformed", "byte 0: the line has no tab"}},
		"only blank lines":  {"\n\r\n\n", "", modelio.ExitData, []string{"no documents: all lines of the input are blank or headers"}},
		"within the budget": {strings.Repeat(good, 50) + "bad\n", "", 0, nil},
		"just over it":      {strings.Repeat(good, 49) + "bad\n\tworse\n", "", modelio.ExitData, []string{"2 of 100 records are malformed, more than --max_rejected=1%", "byte 2597: the line has no tab"}},
		"one class":         {"Hamilton\tupon the subject\n", "", modelio.ExitData, []string{"only one class has documents: Hamilton"}},
		"unknown positive":  {good, "Jay", modelio.ExitUsage, []string{"--positive=Jay: no such label in the data; found: Hamilton, Madison"}},
		"both":              {good + "Jay\tthe fourth\n", "Burr", modelio.ExitUsage, []string{"--positive=Burr: no such label", "Hamilton, Jay, Madison"}},
		"no words":          {"Hamilton\ta b c\nMadison\t. , ;\n", "", modelio.ExitData, []string{"no features"}},
		"truncated gzip":    {gz[:len(gz)-20], "", modelio.ExitData, []string{"the compressed data is truncated"}},
		"corrupt gzip":      {gz[:40] + "rubbish" + gz[47:], "", modelio.ExitData, []string{"the compressed data is corrupt"}},
		"UTF-16":            {"\xff\xfea\x00\t\x00b\x00\n\x00", "", modelio.ExitData, []string{"in.tsv: the text is UTF-16", "iconv"}},
		"too many classes":  {many.String(), "", modelio.ExitData, []string{"more than 200 classes, such as label0; probably the columns are swapped"}},
		"long labels":       {good + strings.Repeat("l", 1025) + "\tpos\n", "", modelio.ExitData, []string{"1 of 3 records are malformed", "the label is longer than 1024 bytes; probably the columns are swapped"}},
		"a header":          {"class\tsentence\n" + good, "", modelio.ExitData, []string{"in.tsv: the first line is a header (class, sentence)"}},
		"labels of any kind": {"a, b\tsome words\n" + strings.Repeat("l", 100) + "\tother words\n\"\tmore words\n", "c", modelio.ExitUsage,
			[]string{`"\"", "a, b", ` + strings.Repeat("l", 40) + "…"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			d := documents(t, save(t, "in.tsv", c.text))
			d.MaxClasses = 200
			err := runTrain(t, dir, d, choose(t, c.positive, "1"))
			if exitOf(err) != c.exit {
				t.Fatalf("exit %d, want %d: %v", exitOf(err), c.exit, err)
			}
			contains(t, err, c.want...)
			if c.exit == 0 {
				return
			}
			checkNothingPublished(t, dir)
			if left, _ := filepath.Glob(filepath.Join(dir, "counts", "*")); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			// Once the data are corrected, the folder can be used again.
			if err := runTrain(t, dir, documents(t, federalist), choose(t, "", "2")); err != nil {
				t.Error(err)
			}
		})
	}
}

// The verdict does not depend on the split: bundles with few classes each have too many together.
func TestTooManyClassesInWhateverBundles(t *testing.T) {
	var files []string
	for i := range 7 {
		var text strings.Builder
		for j := range 40 {
			fmt.Fprintf(&text, "label%03d\tsome words of label%d\n", 40*i+j, j)
		}
		files = append(files, save(t, fmt.Sprintf("in%d.tsv", i), text.String()))
	}
	for _, tuning := range []Tuning{{}, {RangeBytes: 64, Threads: 1}, {RangeBytes: 200, Threads: 3, Spill: true}} {
		for most, exit := range map[int]int{39: modelio.ExitData, 279: modelio.ExitData, 280: 0} {
			d := documents(t, files...)
			d.MaxClasses, d.Tuning = most, tuning
			dir := filepath.Join(t.TempDir(), "out")
			err := runCount(t, dir, d)
			if exitOf(err) != exit {
				t.Fatalf("%+v, %d classes: exit %d, %v", tuning, most, exitOf(err), err)
			}
			if exit != 0 {
				contains(t, err, fmt.Sprintf("more than %d classes, such as label000; ", most))
				checkNothingPublished(t, dir)
			}
		}
	}
}

// Too many pairs of classes are refused before any is solved.
func TestTooManyPairs(t *testing.T) {
	var text strings.Builder
	for i := range 142 {
		fmt.Fprintf(&text, "label%d\tsome words of label%d\n", i, i)
	}
	sel := choose(t, "", "2")
	sel.Strategy = modelio.OneVersusOne
	dir := filepath.Join(t.TempDir(), "out")
	err := runTrain(t, dir, documents(t, save(t, "in.tsv", text.String())), sel)
	if exitOf(err) != modelio.ExitUsage {
		t.Errorf("exit %d", exitOf(err))
	}
	contains(t, err, "--strategy=ovo makes 10,011 problems of 142 classes; the maximum is 10,000; use --strategy=ovr or --strategy=joint")
	checkNothingPublished(t, dir)
}

func TestCountTakesAnyNumberOfClasses(t *testing.T) {
	var text strings.Builder
	for i := range 300 {
		fmt.Fprintf(&text, "class%d\tsome words of class%d\n", i%100, i%100)
	}
	dir := filepath.Join(t.TempDir(), "out")
	if err := runCount(t, dir, documents(t, save(t, "in.tsv", text.String()))); err != nil {
		t.Fatal(err)
	}
	m := read(t, dir).Manifest
	if len(m.Classes) != 100 || *m.Classes[7].Documents != 3 || m.Classes[7].Tokens != 12 || m.Features != 103 {
		t.Errorf("%d classes, %+v, %d features", len(m.Classes), m.Classes[7], m.Features)
	}
	err := runSelect(t, filepath.Join(t.TempDir(), "s"), dir, nil, choose(t, "none", "2"))
	if exitOf(err) != modelio.ExitUsage {
		t.Errorf("exit %d", exitOf(err))
	}
	contains(t, err, "--positive=none: no such label", "and 80 more")
	// One class is enough for counts.
	if err := runCount(t, filepath.Join(t.TempDir(), "out"), documents(t, save(t, "in.tsv", "a\tsome words\n"))); err != nil {
		t.Error(err)
	}
}

// Tolerated faults of the data are counted and reported.
func TestWarningsAndDrops(t *testing.T) {
	long := "Hamilton\t" + strings.Repeat("word ", 300)
	text := strings.Repeat("Hamilton\tupon the subject\r\nMadison\t\xffwhilst\x00the\n\n", 200) + "no tab\n" + long + "\n" + "\tno label\n"
	d := documents(t, save(t, "in.tsv", "\xef\xbb\xbf"+text))
	d.Reading.MaxRecordBytes = 1000
	d.StopWords = []string{"the"}
	dir := filepath.Join(t.TempDir(), "out")
	if err := runTrain(t, dir, d, choose(t, "", "1", "7", "3", "4")); err != nil {
		t.Fatal(err)
	}
	p := read(t, dir)
	want := modelio.Drops{
		Lines:      map[corpusio.Reason]int64{corpusio.NoTab: 1, corpusio.EmptyLabel: 1, corpusio.TooLong: 1},
		BlankLines: 200, StopWords: 400, Replaced: 200,
	}
	if files := p.Manifest.Drops.Files; len(files) != 1 || files[0].Records != 3 || fmt.Sprint(files[0].Reasons) != fmt.Sprint(want.Lines) {
		t.Errorf("rejected by file: %v", files)
	}
	p.Manifest.Drops.Files = nil
	if fmt.Sprint(p.Manifest.Drops) != fmt.Sprint(want) {
		t.Errorf("dropped %+v, want %+v", p.Manifest.Drops, want)
	}
	if len(p.Manifest.Examples) != 3 || p.Manifest.Examples[0].Reason != corpusio.NoTab {
		t.Errorf("examples %+v", p.Manifest.Examples)
	}
	warnings := strings.Join(p.Manifest.Warnings, "\n")
	for _, want := range []string{"k = 7, 4 exceeds the number of features, 3", "k = 1 cannot distinguish"} {
		if !strings.Contains(warnings, want) {
			t.Errorf("the warnings are %q, want %q", warnings, want)
		}
	}
	// The requests 7, 3 and 4 result in the same k, and in one model.
	if len(p.Models) != 2 || p.Models[1].K != 3 || p.Models[1].KRequested != "7,3,4" || p.Models[0].Gain != 0 {
		t.Errorf("%+v", p.Models)
	}
}

// A class with documents but without tokens is degenerate, not an error.
func TestClassWithoutTokens(t *testing.T) {
	for _, smoothing := range []float64{0, 1} {
		sel := choose(t, "", "2")
		sel.Smoothing = []float64{smoothing}
		dir := filepath.Join(t.TempDir(), "out")
		empty := save(t, "empty.tsv", "")
		d := documents(t, save(t, "in.tsv", "Hamilton\tupon the subject\nMadison\t. . .\n"), empty)
		if err := runTrain(t, dir, d, sel); err != nil {
			t.Fatal(err)
		}
		p := read(t, dir)
		if smoothing == 0 && (p.Models[0].Gain != 0 || p.Features[0].Weight != 0) {
			t.Errorf("gain %v, %+v; want 0", p.Models[0].Gain, p.Features[0])
		}
		warnings := strings.Join(p.Manifest.Warnings, "\n")
		if !strings.Contains(warnings, "class Madison has no tokens") || !strings.Contains(warnings, "empty.tsv: is empty") {
			t.Errorf("the warnings are %q", warnings)
		}
		if len(p.Manifest.Inputs) != 2 || p.Manifest.Inputs[0].CRC32C != "00000000" {
			t.Errorf("the inputs are %+v", p.Manifest.Inputs)
		}
		if _, err := verify.Run(t.Context(), dir); err != nil {
			t.Error(err)
		}
	}
}

func TestOutputThatIsTaken(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	d, sel := documents(t, federalist), choose(t, "", "3")
	if err := runTrain(t, dir, d, sel); err != nil {
		t.Fatal(err)
	}
	same := NewRun("train", "test", &d, nil, &sel)
	if published, err := CheckOutput(t.Context(), dir, same); !published || err != nil {
		t.Errorf("the same run: %v, %v", published, err)
	}
	other := choose(t, "", "4")
	_, err := CheckOutput(t.Context(), dir, NewRun("train", "test", &d, nil, &other))
	if exitOf(err) != modelio.ExitUsage {
		t.Errorf("another run: %v", err)
	}
	contains(t, err, "contains another run")
	// The other run may also start later.
	if err := runTrain(t, dir, d, other); exitOf(err) != modelio.ExitTaken {
		t.Errorf("another run, at the same time: exit %d, %v", exitOf(err), err)
	}

	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "thesis.tex"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = CheckOutput(t.Context(), foreign, same)
	contains(t, err, "not empty, contains thesis.tex")
	_, err = CheckOutput(t.Context(), filepath.Join(foreign, "thesis.tex"), same)
	contains(t, err, "is a file, not a folder")
	_, err = CheckOutput(t.Context(), "s3://bucket/x", same)
	contains(t, err, "s3:// is not supported")

	interrupted := t.TempDir()
	if err := modelio.Claim(t.Context(), interrupted, same); err != nil {
		t.Fatal(err)
	}
	if published, err := CheckOutput(t.Context(), interrupted, same); published || err != nil {
		t.Errorf("the same run, interrupted: %v, %v", published, err)
	}
	_, err = CheckOutput(t.Context(), interrupted, NewRun("train", "test", &d, nil, &other))
	contains(t, err, "is writing to it or was interrupted")
	if err := runTrain(t, interrupted, d, other); exitOf(err) != modelio.ExitTaken {
		t.Errorf("exit %d, %v", exitOf(err), err)
	}
}

func TestSelectFromATable(t *testing.T) {
	table := save(t, "counts.csv", "feature,Hamilton,Madison\nupon,374,7\nwhilst,1,12\nwhile,36,0\nthe,10289.5,4066\nnever,0,0\n")
	dir := filepath.Join(t.TempDir(), "out")
	sel := choose(t, "Hamilton", "3", "60%")
	sel.Smoothing = []float64{0}
	if err := runSelect(t, dir, table, nil, sel); err != nil {
		t.Fatal(err)
	}
	p := read(t, dir)
	m := p.Models[0]
	if m.M != 5 || m.DocsPositive != nil || m.Intercept != 0 || m.K != 3 || m.KRequested != "3,60%" || p.Manifest.Classes[0].Tokens != 10700.5 {
		t.Errorf("%+v", m)
	}
	if _, err := verify.Run(t.Context(), dir); err != nil {
		t.Error(err)
	}
	dir = filepath.Join(t.TempDir(), "out")
	if err := runSelect(t, dir, table, map[string]int64{"Hamilton": 51, "Madison": 14}, sel); err != nil {
		t.Fatal(err)
	}
	near(t, "intercept", read(t, dir).Models[0].Intercept, 1.292768303, 1e-9)

	bernoulli := sel
	bernoulli.Model = solver.Bernoulli
	for _, c := range []struct {
		from      string
		documents map[string]int64
		sel       selection.Params
		exit      int
		want      string
	}{
		{table, nil, bernoulli, modelio.ExitUsage, "needs the number of documents: --class_documents=Hamilton=n"},
		{table, map[string]int64{"Hamilton": 51, "Madison": 14}, bernoulli, modelio.ExitUsage, `row 1: the document count of "upon" in class Hamilton is 374, but the class has 51 documents`},
		{table, map[string]int64{"Jay": 5}, sel, modelio.ExitUsage, "unknown class Jay"},
		{table, map[string]int64{"Madison": 14}, sel, modelio.ExitUsage, "--class_documents: Hamilton is missing"},
		{save(t, "whole.csv", "feature,Hamilton,Madison\nx,1,2\n"), map[string]int64{"Madison": 2}, bernoulli, modelio.ExitUsage, "--class_documents: Hamilton is missing"},
		{table, map[string]int64{"Hamilton": 100_000, "Madison": 100_000}, bernoulli, modelio.ExitUsage, `row 4: the document count of "the" in class Hamilton is 10289.5; it must be a whole number`},
		{table, nil, choose(t, "Jay", "3"), modelio.ExitUsage, "--positive=Jay: no such label in the data; found: Hamilton, Madison"},
		{save(t, "one.csv", "feature,a\nx,1\n"), nil, choose(t, "", "1"), modelio.ExitData, "only one class"},
		{save(t, "bad.csv", "feature,a,b\nx,1,-2\n"), nil, choose(t, "", "1"), modelio.ExitUsage, "row 1"},
		{save(t, "head.csv", "feature,a,b\n"), nil, choose(t, "", "1"), modelio.ExitData, "no features"},
		{save(t, "head-long.csv", "feature,class,count\n"), nil, choose(t, "", "1"), modelio.ExitData, "the table has no rows"},
		{save(t, "bad-long.csv", "feature,class,count\nx,a,1\nx,a,2\n"), nil, choose(t, "", "1"), modelio.ExitUsage, `row 2: duplicate count of "x" in class a: it is already in row 1`},
		{save(t, "zero.csv", "feature,Hamilton,b\nx,0,0\n"), nil, sel, modelio.ExitData, "all counts are zero"},
		{filepath.Join(t.TempDir(), "none.csv"), nil, sel, modelio.ExitUsage, "none.csv: no such file"},
		{t.TempDir(), nil, sel, modelio.ExitUsage, "no published run"},
		{dir, nil, sel, modelio.ExitUsage, "has no counts; use those that it was made from: " + table},
	} {
		dir := filepath.Join(t.TempDir(), "out")
		err := runSelect(t, dir, c.from, c.documents, c.sel)
		if exitOf(err) != c.exit {
			t.Errorf("%s: exit %d, want %d: %v", c.from, exitOf(err), c.exit, err)
		}
		contains(t, err, c.want)
		checkNothingPublished(t, dir)
	}
}

func TestVerifyNoticesEveryChange(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "out")
	if err := runTrain(t, whole, documents(t, federalist), choose(t, "", "5")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"features.parquet", "model.parquet", "path.parquet", "manifest.json", "counts/part-00003-of-00064.parquet"} {
		for what, change := range map[string]func(b []byte) []byte{
			"changed":   func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
			"truncated": func(b []byte) []byte { return b[:len(b)-1] },
		} {
			dir := filepath.Join(t.TempDir(), "copy")
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, name)
			if err := os.WriteFile(file, change([]byte(readFile(t, file))), 0o666); err != nil {
				t.Fatal(err)
			}
			if _, err := verify.Run(t.Context(), dir); exitOf(err) != modelio.ExitData {
				t.Errorf("%s %s: %v", name, what, err)
			}
		}
	}
}

// If the manifest has the checksums of falsified files, recomputing the numbers detects them.
func TestVerifyComputesTheNumbers(t *testing.T) {
	for what, lie := range map[string]func(p *modelio.Published){
		"gain":   func(p *modelio.Published) { p.Models[0].Gain *= 1 + 1e-6 },
		"bound":  func(p *modelio.Published) { p.Models[0].UpperBoundGain *= 1 - 1e-6; p.Models[0].Gap = 0 },
		"weight": func(p *modelio.Published) { p.Features[2].Weight += 1e-6 },
		"theta":  func(p *modelio.Published) { p.Features[0].ThetaNegative *= 1.001 },
		"count":  func(p *modelio.Published) { p.Features[1].CountPositive++ },
		"rank":   func(p *modelio.Published) { p.Features[1].Rank = 1 },
		"path":   func(p *modelio.Published) { p.Path[2].UpperBoundGain *= 1 + 1e-6 },
		"tokens": func(p *modelio.Published) { p.Manifest.Classes[0].Tokens++ },
		"m":      func(p *modelio.Published) { p.Manifest.Features-- },
		"gone":   func(p *modelio.Published) { p.Features = p.Features[1:] },

		"path without the model": func(p *modelio.Published) { p.Path = p.Path[:2] },
		"marginal gain":          func(p *modelio.Published) { p.Path[3].MarginalGain *= 1.001 },
		"elbow":                  func(p *modelio.Published) { p.Path[3].Elbow = 0 },
		"another problem":        func(p *modelio.Published) { p.Models[0].Negative = "Jay" },
		"another strategy":       func(p *modelio.Published) { p.Models[0].Strategy = modelio.OneVersusRest },
		"another method":         func(p *modelio.Published) { p.Models[0].Method = "chi2" },
		"documents":              func(p *modelio.Published) { *p.Features[1].DocumentsNegative++ },
		"no documents":           func(p *modelio.Published) { p.Features[1].DocumentsPositive = nil },
		"analyzer":               func(p *modelio.Published) { p.Manifest.Analyzer = &modelio.Analyzer{Unit: "char"} },
		"ties":                   func(p *modelio.Published) { p.Models[0].TiedLeftOut++ },
		"statistic":              func(p *modelio.Published) { p.Features[0].Statistic++ },
		"twin":                   func(p *modelio.Published) { twin := p.Features[0]; twin.Rank = 2; p.Features[1] = twin },
	} {
		dir := filepath.Join(t.TempDir(), "out")
		if err := runTrain(t, dir, documents(t, federalist), choose(t, "", "5")); err != nil {
			t.Fatal(err)
		}
		p := read(t, dir)
		lie(&p)
		republish(t, p)
		_, err := verify.Run(t.Context(), dir)
		if exitOf(err) != modelio.ExitData {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func republish(t *testing.T, p modelio.Published) {
	t.Helper()
	m := p.Manifest
	keep := m.Files[:0]
	gone := []string{modelio.ManifestFile, modelio.SuccessFile}
	for _, f := range m.Files {
		if countio.IsPart(f.Name) {
			keep = append(keep, f)
		} else {
			gone = append(gone, f.Name)
		}
	}
	m.Files = keep
	text, err := tableio.Metadata(t.Context(), filepath.Join(p.Dir, modelio.ModelFile), modelio.AnalyzerKey)
	if err != nil {
		t.Fatal(err)
	}
	var analyzer modelio.Analyzer // as it was published; the manifest may lie
	if err := json.Unmarshal([]byte(text), &analyzer); err != nil {
		t.Fatal(err)
	}
	for _, name := range gone {
		if err := os.Remove(filepath.Join(p.Dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := modelio.Claim(t.Context(), p.Dir, m.Run); err != nil {
		t.Fatal(err)
	}
	guard := modelio.NewGuard(p.Dir, m.Run)
	features, err := modelio.WriteTable(t.Context(), guard, modelio.FeaturesFile, p.Features)
	if err != nil {
		t.Fatal(err)
	}
	models, err := modelio.WriteModels(t.Context(), guard, p.Models, &analyzer)
	if err != nil {
		t.Fatal(err)
	}
	path, err := modelio.WriteTable(t.Context(), guard, modelio.PathFile, p.Path)
	if err != nil {
		t.Fatal(err)
	}
	m.Files = append(m.Files, features, models, path)
	if p.Buckets != nil {
		buckets, err := modelio.WriteTable(t.Context(), guard, modelio.BucketsFile, p.Buckets)
		if err != nil {
			t.Fatal(err)
		}
		m.Files = append(m.Files, buckets)
	}
	if err := modelio.Publish(t.Context(), p.Dir, m); err != nil {
		t.Fatal(err)
	}
}

var _ = modelio.ExitData
