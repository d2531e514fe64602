package transforms

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
	"github.com/sparsenb/sparsenb/transforms/dofn"
	"github.com/sparsenb/sparsenb/transforms/pool"
)

func init() {
	dofn.Register(&writeRowsFn{})
}

// A step that makes rows of documents sends them in pieces, keyed by shard: a piece has the rows of consecutive documents of
// one file. The shard of a document depends on its file and offset alone, and pieces are sorted by both before they are
// written, so the files do not depend on how the input was split.

// place is where the first document of a piece is.
type place struct {
	File   string
	Offset int64
}

func (p place) compare(o place) int {
	return cmp.Or(cmp.Compare(p.File, o.File), cmp.Compare(p.Offset, o.Offset))
}

// stretch is how much of a file has its rows in one shard: bytes of text, or rows of a table.
const stretch = 1 << 20

// shardOf returns the shard of the documents of a stretch of a file.
func shardOf(file string, offset int64, shards int) int {
	if shards == 1 {
		return 0
	}
	key, _ := feature.Hash([]byte(fmt.Sprintf("%d %s", offset/stretch, file)))
	return feature.Shard(key, shards)
}

// rowSender collects the rows of one goroutine, of type P, and sends them in pieces. The piece must be sent at the end of a
// range, since the next range of the goroutine may be elsewhere in the file. P has the rows of a piece in a form that
// gob encodes fast, such as a slice for each column.
type rowSender[P any] struct {
	shards int
	emit   pool.Emitter
	piece  rowPiece[P]
	size   int // of the piece in bytes, about
}

// rowPiece are the rows of consecutive documents of a file.
type rowPiece[P any] struct {
	Place     place
	Documents int64
	Rows      P
}

// pieceHead is what gob decodes of a piece whose rows are not wanted.
type pieceHead struct {
	Place     place
	Documents int64
}

// at returns the piece for the rows of a document of about size bytes. It sends the one before if that is complete.
func (s *rowSender[P]) at(r corpusio.Range, d *corpusio.Document, size int) (*P, error) {
	here := place{r.File.Name, d.Offset}
	if s.piece.Documents > 0 && (s.piece.Place.File != here.File || s.piece.Place.Offset/stretch != here.Offset/stretch || s.size+size > MaxElement) {
		if err := s.send(); err != nil {
			return nil, err
		}
	}
	if s.piece.Documents == 0 {
		s.piece.Place = here
	}
	s.piece.Documents++
	s.size += size
	return &s.piece.Rows, nil
}

// send sends the piece.
func (s *rowSender[P]) send() error {
	if s.piece.Documents == 0 {
		return nil
	}
	b, err := encode(s.piece)
	if err != nil {
		return err
	}
	s.emit(shardOf(s.piece.Place.File, s.piece.Place.Offset, s.shards), b)
	s.piece, s.size = rowPiece[P]{}, 0
	return nil
}

// emitEmpty sends an empty piece to each shard, so that each writes a file.
func emitEmpty(shards int, emit func(int, []byte)) error {
	b, err := encode(pieceHead{})
	if err != nil {
		return err
	}
	for shard := range shards {
		emit(shard, b)
	}
	return nil
}

// tableOf is how the rows of a step are written.
type tableOf interface {
	// write writes a file with the rows of a shard, and returns its sum and the number of documents. pieces are sorted.
	write(ctx context.Context, guard *modelio.Guard, output string, shard int, pieces [][]byte) (tableio.FileSum, int64, error)
}

// RowsParams say where the rows of documents are written.
type RowsParams struct {
	Run    modelio.Run
	Output string
	Shards int // with 1 there is one file, otherwise a folder of them
}

// Validate returns an error that names the first invalid field.
func (p RowsParams) Validate() error {
	switch {
	case p.Run.ID == "" || p.Output == "":
		return errors.New("missing Run or Output")
	case p.Shards < 1:
		return fmt.Errorf("invalid Shards: %d; it must be at least 1", p.Shards)
	}
	return nil
}

// writeRows writes the pieces of each shard to a file. It takes a PCollection<KV<int, []byte>> of pieces, and as side input
// one of ClassLists, which tell of a verdict, and returns a PCollection<[]byte> of Parts, which is empty after a verdict.
func writeRows(s beam.Scope, pieces, classes beam.PCollection, fn *writeRowsFn) beam.PCollection {
	return beam.ParDo(s, fn, beam.GroupByKey(s, pieces), beam.SideInput{Input: classes})
}

// writeRowsFn has one field that is not nil for the kind of rows.
type writeRowsFn struct {
	Rows        RowsParams
	Predictions *PredictParams
	Matrix      *MatrixParams
}

func (f *writeRowsFn) table() tableOf {
	if f.Matrix != nil {
		return f.Matrix
	}
	return f.Predictions
}

func (f *writeRowsFn) ProcessElement(ctx context.Context, shard int, next, classes func(*[]byte) bool, emit func([]byte)) error {
	list, err := readClasses(classes)
	if err != nil || list == nil { // a verdict
		return err
	}
	pieces, err := sortPieces(next)
	if err != nil {
		return fmt.Errorf("shard %d: %w", shard, err)
	}
	var part Part
	var documents int64
	part.FileSum, documents, err = f.table().write(ctx, modelio.NewGuard(f.Rows.Output, f.Rows.Run), f.Rows.Output, shard, pieces)
	if err != nil {
		return fmt.Errorf("shard %d: %w", shard, err)
	}
	part.scanned(documents)
	if err := emitRecord(emit, part); err != nil || f.Matrix == nil || shard > 0 {
		return err
	}
	return f.Matrix.describe(ctx, emit)
}

// sortPieces returns the pieces that are not empty, by their places.
func sortPieces(next func(*[]byte) bool) ([][]byte, error) {
	type sorted struct {
		place place
		bytes []byte
	}
	var list []sorted
	var b []byte
	for next(&b) {
		head, err := decode[pieceHead](b)
		if err != nil {
			return nil, err
		}
		if head.Documents > 0 {
			list = append(list, sorted{head.Place, slices.Clone(b)})
		}
	}
	slices.SortFunc(list, func(a, b sorted) int { return a.place.compare(b.place) })
	pieces := make([][]byte, len(list))
	for i, p := range list {
		pieces[i] = p.bytes
	}
	return pieces, nil
}

// eachPiece decodes pieces in their order, and returns the number of documents.
func eachPiece[P any](ctx context.Context, pieces [][]byte, visit func(place, P) error) (documents int64, err error) {
	for _, b := range pieces {
		if ctx.Err() != nil { // the runner has abandoned the bundle
			return 0, context.Cause(ctx)
		}
		piece, err := decode[rowPiece[P]](b)
		if err != nil {
			return 0, err
		}
		documents += piece.Documents
		if err := visit(piece.Place, piece.Rows); err != nil {
			return 0, err
		}
	}
	return documents, nil
}
