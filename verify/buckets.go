package verify

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/transforms/kernel"
)

// buckets holds the names of buckets against the hash, the counts and the selection. How often a name occurs is in no file
// but this one: of a bucket that lists all its names the sum is known, of others that it cannot be more.
func (v *run) buckets() error {
	option, hashed := v.Run.Manifest.Options["hash_bits"]
	if len(v.Run.Buckets) == 0 && (!hashed || v.Run.Manifest.Verb == "select") {
		return nil
	}
	bits, err := strconv.Atoi(option)
	if err != nil || bits < 1 || bits > kernel.MaxHashBits {
		return fmt.Errorf("%s: the features were not counted in buckets, --hash_bits=%s", modelio.BucketsFile, option)
	}
	named := map[string]bool{}
	last := modelio.BucketRow{FeatureID: math.MinInt64}
	for rest := v.Run.Buckets; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Feature == rest[0].Feature {
			n++
		}
		rows := rest[:n]
		if !v.counts[rows[0].Feature].found {
			return fmt.Errorf("%s: the bucket %q is not in the counts", modelio.BucketsFile, rows[0].Feature)
		}
		named[rows[0].Feature] = true
		if rows[0].FeatureID < last.FeatureID {
			return fmt.Errorf("%s: the bucket %s is not in its place", modelio.BucketsFile, rows[0].Feature)
		}
		if err := v.sameBucket(rows, bits, v.counts[rows[0].Feature]); err != nil {
			return fmt.Errorf("%s: bucket %s: %w", modelio.BucketsFile, rows[0].Feature, err)
		}
		last, rest = rows[0], rest[n:]
	}
	selected := map[string]bool{}
	for _, f := range v.Run.Features {
		selected[f.Feature] = true
	}
	for bucket := range named {
		if !selected[bucket] {
			return fmt.Errorf("%s: the bucket %s was not selected", modelio.BucketsFile, bucket)
		}
	}
	for _, f := range v.Run.Features {
		if !named[f.Feature] {
			return fmt.Errorf("%s: the bucket %s has no names", modelio.BucketsFile, f.Feature)
		}
	}
	hashes := "hashes, "
	if !v.Run.Manifest.SameHash() {
		hashes = ""
	}
	v.found("the names of %s: their %sorder and shares, and that they occur no more often than was counted", plural(int64(len(named)), "bucket"), hashes)
	return nil
}

// sameBucket compares the names of a bucket with its hash, if that is the one in use, and with its counts.
func (v *run) sameBucket(rows []modelio.BucketRow, bits int, counted labelled) error {
	var sum int64
	for i, row := range rows {
		key, _ := feature.Hash([]byte(row.Name))
		if bucket := string(kernel.AppendBucket(nil, key, bits)); bucket != row.Feature && v.Run.Manifest.SameHash() {
			return fmt.Errorf("%q hashes to %s", row.Name, bucket)
		}
		if row.Rank != int64(i)+1 || row.FeatureID != counted.id || row.Names != rows[0].Names || row.Count < 1 {
			return fmt.Errorf("%q stands at rank %d of %d, %d times, with the feature_id %d", row.Name, row.Rank, row.Names, row.Count, row.FeatureID)
		}
		if i > 0 && cmp.Or(cmp.Compare(rows[i-1].Count, row.Count), cmp.Compare(row.Name, rows[i-1].Name)) <= 0 {
			return fmt.Errorf("%q should not stand behind %q", row.Name, rows[i-1].Name)
		}
		if want := float64(row.Count) / counted.occurrences; !(math.Abs(row.Share-want) <= 1e-12) {
			return fmt.Errorf("the share of %q is %v; found %v", row.Name, row.Share, want)
		}
		sum += row.Count
	}
	listed := int64(len(rows))
	whole := listed == rows[0].Names
	if listed > rows[0].Names || !whole && listed != modelio.MostNames {
		return fmt.Errorf("%s of %d stand there", plural(listed, "name"), rows[0].Names)
	}
	// Names that are missing occur once or more each, and none more often than the last that is there.
	rest := counted.occurrences - float64(sum)
	least, most := float64(rows[0].Names-listed), float64(rows[0].Names-listed)*float64(rows[listed-1].Count)
	if rest < least || rest > most {
		return fmt.Errorf("its names occur %d times, of %v times in the counts", sum, counted.occurrences)
	}
	return nil
}
