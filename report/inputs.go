package report

import (
	"cmp"
	"strings"

	"github.com/sparsenb/sparsenb/io/modelio"
)

// Inputs counts the input files by format and compression, such as "3 files, csv, gzip", in the order of the files.
func Inputs(inputs []modelio.Input) string {
	type kind struct{ format, compression string }
	counts, kinds := map[kind]int64{}, []kind(nil)
	for _, in := range inputs {
		k := kind{cmp.Or(in.Format, "tsv"), string(in.Compression)}
		if counts[k]++; counts[k] == 1 {
			kinds = append(kinds, k)
		}
	}
	var list []string
	for _, k := range kinds {
		text := Plural(counts[k], "file") + ", " + k.format
		if k.compression != "" {
			text += ", " + k.compression
		}
		list = append(list, text)
	}
	return strings.Join(list, "; ")
}
