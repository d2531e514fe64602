// Package tableio reads and writes the Parquet tables of a run. Equal rows give equal bytes: nothing in a file depends on
// the machine, the time or the build. A writer computes the SHA-256 checksum while it writes, and never replaces a file: if
// the name exists with the same bytes, the write succeeds, otherwise it fails with [fileio.ErrTaken].
package tableio

import (
	"fmt"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// FormatVersion is the version of all Parquet files that sparsenb writes. It is in their metadata, under
// "sparsenb.format_version", and in manifest.json as table_format_version.
//
//	1  the first; the encodings of parts may change within it
//	2  feature_id uses another hash: the first gave some similar names the same id
//	3  feature_id uses another hash: names could be constructed for which hash 2 ignored eight bytes. Later files of it have
//	   a column classifier in features.parquet and model.parquet: a new column is no new version, see [Extended]
const FormatVersion = "3"

const versionKey = "sparsenb.format_version"

// VersionError is a table format version that this program does not know.
type VersionError struct{ Version string }

// Error distinguishes a newer version from a malformed one.
func (e *VersionError) Error() string {
	if _, err := strconv.ParseUint(e.Version, 10, 32); err != nil || e.Version == "0" {
		return fmt.Sprintf("unknown table format %.20q", e.Version)
	}
	return fmt.Sprintf("written by a newer version of sparsenb (table format %s); upgrade sparsenb", e.Version)
}

// CheckVersion returns a [*VersionError] unless version is 1 to [FormatVersion]. It accepts "": manifests before format 3
// have no version, and neither have tables of other programs.
func CheckVersion(version string) error {
	switch version {
	case "", "1", "2", FormatVersion:
		return nil
	}
	return &VersionError{version}
}

// Limits of a row group. A row group of counts, the table with the widest rows, stays below 16 MB in memory.
const (
	RowsPerGroup  = 1 << 18
	BytesPerGroup = 16 << 20 // of names
)

// WriterOptions are the options of every table.
func WriterOptions() []parquet.WriterOption {
	return []parquet.WriterOption{
		parquet.CreatedBy("sparsenb", "format", FormatVersion),
		parquet.KeyValueMetadata(versionKey, FormatVersion),
		parquet.Compression(codec),
		parquet.DataPageVersion(1),       // every reader supports it
		parquet.PageBufferSize(64 << 10), // the default is four times as large, and costs 300 KB of memory for each of 64 parts
		parquet.MaxRowsPerRowGroup(RowsPerGroup),
	}
}

// codec is shared by all files because each encoder allocates half a megabyte.
var codec = &zstd.Codec{Level: zstd.SpeedFastest, Concurrency: 1}
