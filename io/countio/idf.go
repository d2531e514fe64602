package countio

import (
	"fmt"
	"path"
)

// IDFRow is a feature of a run with --weights=tfidf: a row of idf/part-NNNNN-of-NNNNN.parquet. Rows are sorted by feature_id
// and feature, within a part and from one part to the next.
type IDFRow struct {
	Feature   string  `parquet:"feature"`
	FeatureID int64   `parquet:"feature_id,delta"`
	Documents int64   `parquet:"documents"` // of all classes
	IDF       float64 `parquet:"idf"`       // inverse document frequency
}

// IDFFolder is the folder of the inverse document frequencies, relative to the output folder.
const IDFFolder = "idf"

// IDFName returns the name of a part of them, relative to the output folder.
func IDFName(part, parts int) string {
	return fmt.Sprintf(IDFFolder+"/part-%05d-of-%05d.parquet", part, parts)
}

// IsIDF reports whether a name, relative to the output folder, is that of such a part.
func IsIDF(name string) bool {
	ok, err := path.Match(IDFFolder+"/part-*-of-*.parquet", name)
	return ok && err == nil
}
