package pipeline

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/transforms"
)

func TestMain(m *testing.M) {
	log.LogLevel = "error"
	beam.Init()
	os.Exit(m.Run())
}

func TestFederalist(t *testing.T) {
	ctx := context.Background()
	files, err := corpusio.List(ctx, []string{"../testdata/federalist/train.tsv"})
	if err != nil {
		t.Fatal(err)
	}
	budget, _ := transforms.ParseBudget("1%")
	k, _ := transforms.ParseK("10")
	d := Documents{Files: files, MaxRejected: budget, MaxRecordBytes: 8 << 20, Shards: 64}
	sel := Selection{K: []transforms.K{k}, Smoothing: 1, Positive: "Hamilton"}
	r := NewRun("train", "test", &d, nil, &sel)
	dir := t.TempDir() + "/out"
	err = Run(ctx, Prism, dir, r, func(s beam.Scope) { Train(s, r, dir, d, sel) }, func(Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	countio.ReadTable(ctx, dir+"/features.parquet", func(r *modelio.FeatureRow) error { fmt.Printf("%+v\n", *r); return nil })
	countio.ReadTable(ctx, dir+"/model.parquet", func(r *modelio.ModelRow) error { fmt.Printf("%+v\n", *r); return nil })
	b, _ := os.ReadFile(dir + "/manifest.json")
	fmt.Println(string(b[:2000]))
}
