package modelio

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/tableio"
)

// Published is the content of a published run. Runs of count have no tables.
type Published struct {
	Dir      string
	Manifest Manifest
	Models   []ModelRow
	Features []FeatureRow
	Path     []PathRow
	Buckets  []BucketRow
}

// NotPublished is the error for a folder without a file that every published run has.
func NotPublished(dir, file string) error {
	return fmt.Errorf("%s: no published run (%s is missing)", dir, file)
}

// Read reads a published run, without its counts.
func Read(ctx context.Context, dir string) (p Published, err error) {
	p.Dir = dir
	if _, found, err := readJSON[Success](ctx, dir, SuccessFile); err != nil || !found {
		return p, cmp.Or(err, NotPublished(dir, SuccessFile))
	}
	if p.Manifest, err = ReadManifest(ctx, dir); err != nil || p.Manifest.Verb == "count" || p.Manifest.AppliesModel() || p.Manifest.Tunes() {
		return p, err
	}
	if p.Models, err = readRows[ModelRow](ctx, dir, ModelFile); err != nil {
		return p, err
	}
	if p.Features, err = readRows[FeatureRow](ctx, dir, FeaturesFile); err != nil {
		return p, err
	}
	p.setClassifiers()
	if p.Path, err = readRows[PathRow](ctx, dir, PathFile); err != nil {
		return p, err
	}
	if slices.ContainsFunc(p.Manifest.Files, func(f tableio.FileSum) bool { return f.Name == BucketsFile }) {
		p.Buckets, err = readRows[BucketRow](ctx, dir, BucketsFile)
	}
	return p, err
}

func readRows[T any](ctx context.Context, dir, name string) (rows []T, err error) {
	err = tableio.Read(ctx, fileio.Join(dir, name), func(row *T) error {
		rows = append(rows, *row)
		return nil
	})
	return rows, err
}

// Of returns the features of a model, by rank.
func (p Published) Of(m ModelRow) (rows []FeatureRow) {
	for _, f := range p.Features {
		if f.Key() == m.Key() {
			rows = append(rows, f)
		}
	}
	return rows
}
