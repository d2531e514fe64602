package modelio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/tableio"
)

// RejectedFile is the table of rejected records. It is not in the output folder of the run: a run that fails because of too many
// rejections leaves it, too.
const RejectedFile = "rejected.parquet"

// RejectedRow is a rejected record: a row of rejected.parquet. Rows are sorted by source and offset.
type RejectedRow struct {
	Source string  `parquet:"source,dict"` // the file
	Offset int64   `parquet:"offset"`      // of the record, in bytes, in the decompressed content
	Reason string  `parquet:"reason,dict"`
	Text   *string `parquet:"text,optional"` // the start of the record, with --log_samples
}

// Compare orders rows by source, offset, reason and text.
func (r RejectedRow) Compare(o RejectedRow) int {
	text := func(r RejectedRow) string {
		if r.Text == nil {
			return ""
		}
		return *r.Text
	}
	return cmp.Or(cmp.Compare(r.Source, o.Source), cmp.Compare(r.Offset, o.Offset), cmp.Compare(r.Reason, o.Reason), cmp.Compare(text(r), text(o)))
}

// fingerprintKey is the key of the fingerprint of the run in the metadata of rejected.parquet.
const fingerprintKey = "sparsenb.fingerprint"

// WriteRejected writes the rejected records of a run into a folder, while the guard allows it. A table with the same bytes
// may exist. The name in the sum is the full one.
func WriteRejected(ctx context.Context, guard *Guard, dir string, rows []RejectedRow) (sum tableio.FileSum, err error) {
	w, err := tableio.Create[RejectedRow](ctx, dir, RejectedFile, guard.Check)
	if err != nil {
		return sum, err
	}
	defer w.Abort()
	w.SetMetadata(fingerprintKey, guard.run.Fingerprint)
	for _, row := range rows {
		if err := w.Write(row); err != nil {
			return sum, err
		}
	}
	sum, err = w.Commit()
	sum.Name = fileio.Join(dir, RejectedFile)
	return sum, err
}

// CheckRejected fails if the folder has the rejected records of another run. The error has an exit code.
func CheckRejected(ctx context.Context, dir string, run Run) error {
	store, err := fileio.For(dir)
	if err != nil {
		return &Error{ExitUsage, err}
	}
	if err := store.CheckWritable(ctx, dir); err != nil {
		return InputError(err)
	}
	name := fileio.Join(dir, RejectedFile)
	if _, err := store.Stat(ctx, name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	fingerprint, err := tableio.Metadata(ctx, name, fingerprintKey)
	if err != nil || fingerprint != run.Fingerprint {
		return &Error{ExitUsage, fmt.Errorf("%s: the file exists and belongs to another run; remove it, or choose another --rejects_output", name)}
	}
	return nil
}
