// Package tuning compares models by cross-validation: it divides documents into folds, solves the models of a grid on the
// counts of all folds but one, applies each to the documents of that fold, and chooses one of them. The text is read twice,
// whatever the size of the grid. The package knows no Beam.
package tuning

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/sparsenb/sparsenb/io/corpusio"
)

// Folds divide documents.
type Folds struct {
	Number  int  // 2 to MaxFolds; 0: there are no folds
	ByGroup bool // documents with the same Document.Group are in one fold; default: those with the same text
}

// MaxFolds is the largest number of folds.
const MaxFolds = 100

// Of returns the fold of a document, from 0. It is the first 8 bytes of the SHA-256 of the text, of the group, or of the
// features, as a big-endian number, modulo the number of folds. Features are hashed in their order: the name, a zero byte, and
// the value as a big-endian float64.
func (f Folds) Of(d *corpusio.Document) int {
	var hash [sha256.Size]byte
	switch {
	case f.ByGroup:
		hash = sha256.Sum256(d.Group)
	case d.Features != nil:
		var b []byte
		for _, feat := range d.Features {
			b = append(append(b, feat.Name...), 0)
			b = binary.BigEndian.AppendUint64(b, math.Float64bits(feat.Value))
		}
		hash = sha256.Sum256(b)
	default:
		hash = sha256.Sum256(d.Text)
	}
	return int(binary.BigEndian.Uint64(hash[:]) % uint64(f.Number))
}

// prefixBytes is the length of the prefix of a label that counts are kept under. It is the same for all folds, so labels
// cannot collide.
const prefixBytes = len("fold00/")

// AppendLabel appends the label under which the counts of a class in a fold are kept, such as fold03/spam.
func AppendLabel(dst []byte, fold int, label []byte) []byte {
	return append(fmt.Appendf(dst, "fold%02d/", fold), label...)
}

// CutLabel is the inverse of AppendLabel.
func CutLabel(text string) (fold int, label string, err error) {
	if len(text) >= prefixBytes && text[:4] == "fold" && text[6] == '/' {
		if fold, err := strconv.ParseUint(text[4:6], 10, 8); err == nil {
			return int(fold), text[prefixBytes:], nil
		}
	}
	return 0, "", fmt.Errorf("the label %.40q has no fold", text)
}

// LabelOf returns the label without its fold, for text that AppendLabel has made.
func LabelOf(text string) string { return text[min(len(text), prefixBytes):] }
