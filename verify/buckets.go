package verify

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/transforms/kernel"
)

// Buckets compares the names of buckets with the hash, the counts and the selected features. The counts of names are in no
// other file: if all names of a bucket are listed, their counts add up to the count of the bucket; if not, to less.
func Buckets(_ context.Context, run modelio.Published, counts *Counts) (findings []string, err error) {
	bits := run.Manifest.Analysis().HashBits
	if len(run.Buckets) == 0 && (bits == 0 || run.Manifest.Verb == "select") {
		return nil, nil
	}
	if bits < 1 || bits > kernel.MaxHashBits {
		return nil, fmt.Errorf("%s: the features were not counted in buckets: --hash_bits=%d", modelio.BucketsFile, bits)
	}
	named, last := map[string]bool{}, int64(math.MinInt64)
	for rest := run.Buckets; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Feature == rest[0].Feature {
			n++
		}
		bucket := rest[0].Feature
		if !counts.named[bucket].found {
			return nil, fmt.Errorf("%s: the bucket %q is not in the counts", modelio.BucketsFile, bucket)
		}
		if rest[0].FeatureID < last {
			return nil, fmt.Errorf("%s: the bucket %s is out of order", modelio.BucketsFile, bucket)
		}
		if err := checkNames(run, rest[:n], bits, counts.named[bucket]); err != nil {
			return nil, fmt.Errorf("%s: bucket %s: %w", modelio.BucketsFile, bucket, err)
		}
		named[bucket] = true
		last, rest = rest[0].FeatureID, rest[n:]
	}
	selected := map[string]bool{}
	for _, f := range run.Features {
		selected[f.Feature] = true
		if !named[f.Feature] {
			return nil, fmt.Errorf("%s: the bucket %s has no names", modelio.BucketsFile, f.Feature)
		}
	}
	for bucket := range named {
		if !selected[bucket] {
			return nil, fmt.Errorf("%s: the bucket %s was not selected", modelio.BucketsFile, bucket)
		}
	}
	hashes := "hashes, "
	if !run.Manifest.SameHash() {
		hashes = ""
	}
	return []string{fmt.Sprintf("the names of %s: %sorder, shares, and counts within those of the buckets", plural(int64(len(named)), "bucket"), hashes)}, nil
}

// checkNames compares the names of a bucket with its hash, if this program has that hash, and with its counts.
func checkNames(run modelio.Published, rows []modelio.BucketRow, bits int, counts featureCounts) error {
	var sum int64
	for i, row := range rows {
		key, _ := feature.Hash([]byte(row.Name))
		if bucket := string(kernel.AppendBucket(nil, key, bits)); bucket != row.Feature && run.Manifest.SameHash() {
			return fmt.Errorf("the name %q hashes to bucket %s", row.Name, bucket)
		}
		if row.Rank != int64(i)+1 || row.FeatureID != counts.id || row.Names != rows[0].Names || row.Count < 1 {
			return fmt.Errorf("the row of %q is invalid: rank %d of %d, count %d, feature_id %d", row.Name, row.Rank, row.Names, row.Count, row.FeatureID)
		}
		if i > 0 && cmp.Or(cmp.Compare(rows[i-1].Count, row.Count), cmp.Compare(row.Name, rows[i-1].Name)) <= 0 {
			return fmt.Errorf("the names %q and %q are out of order", rows[i-1].Name, row.Name)
		}
		if want := float64(row.Count) / counts.occurrences; !(math.Abs(row.Share-want) <= 1e-12) {
			return fmt.Errorf("the share of %q is %v, but recomputed %v", row.Name, row.Share, want)
		}
		sum += row.Count
	}
	listed, names := int64(len(rows)), rows[0].Names
	if listed != min(names, modelio.MostNames) {
		return fmt.Errorf("it lists %s of %d", plural(listed, "name"), names)
	}
	// Each name that is not listed occurs at least once, and at most as often as the last one listed.
	rest, missing := counts.occurrences-float64(sum), float64(names-listed)
	if rest < missing || rest > missing*float64(rows[listed-1].Count) {
		return fmt.Errorf("its names occur %d times, but the bucket %v times", sum, counts.occurrences)
	}
	return nil
}
