package countio

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// textRows reads CSV, or TSV if the header has a tab. TSV has no quoting: a quote may be a feature.
type textRows struct {
	in     *recordReader
	names  []string
	read   func() ([]string, error)
	fields []string
}

const byteOrderMark = "\ufeff"

// maxRecord is the maximum length of a row in bytes. A longer row is probably an error: an unclosed quote, or a file without
// line ends.
const maxRecord = 16 << 20

func openText(file io.Reader) (*textRows, error) {
	r := &textRows{in: &recordReader{in: file, left: maxRecord}}
	in := bufio.NewReaderSize(r.in, 1<<20)
	head, err := in.Peek(in.Size())
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	line, _, lines := strings.Cut(string(head), "\n")
	if !lines && strings.Contains(line, "\r") {
		return nil, errors.New("the lines end with a carriage return only; convert the file with: tr '\\r' '\\n'")
	}
	if strings.HasPrefix(line, byteOrderMark) {
		if _, err := in.Discard(len(byteOrderMark)); err != nil {
			return nil, err
		}
	}
	r.read = csvRows(in)
	if strings.Contains(line, "\t") {
		r.read = tsvRows(in)
	}
	names, err := r.record()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty")
	}
	r.names = append(r.names, names...)
	return r, err
}

func (r *textRows) record() ([]string, error) {
	r.in.left = maxRecord
	return r.read()
}

func csvRows(in io.Reader) func() ([]string, error) {
	c := csv.NewReader(in)
	c.FieldsPerRecord = -1
	c.ReuseRecord = true
	return func() ([]string, error) {
		fields, err := c.Read()
		var parse *csv.ParseError
		if errors.As(err, &parse) {
			err = parse.Err
		}
		return fields, err
	}
}

// tsvRows skips empty lines, as encoding/csv does.
func tsvRows(in *bufio.Reader) func() ([]string, error) {
	return func() ([]string, error) {
		for {
			line, err := in.ReadString('\n')
			if err != nil && (line == "" || !errors.Is(err, io.EOF)) {
				return nil, err
			}
			if line = strings.TrimRight(line, "\r\n"); line != "" {
				return strings.Split(line, "\t"), nil
			}
		}
	}
}

// recordReader fails when a row is too long. The reader on top of it buffers, so a row may exceed the limit by its buffer.
type recordReader struct {
	in   io.Reader
	read int64 // bytes
	left int   // for the row
}

func (r *recordReader) Read(b []byte) (int, error) {
	if r.left == 0 {
		return 0, fmt.Errorf("the row is longer than %d MiB, up to byte %d of the file; probably a quote is not closed, or line ends are missing", maxRecord>>20, r.read)
	}
	n, err := r.in.Read(b[:min(len(b), r.left)])
	r.left -= n
	r.read += int64(n)
	return n, err
}

func (r *textRows) header() []string { return r.names }

func (r *textRows) numeric(int) (string, bool) { return "", true }

func (r *textRows) next() (err error) {
	r.fields, err = r.record()
	if err == nil && len(r.fields) != len(r.names) {
		err = fmt.Errorf("has %d fields, but the header has %d", len(r.fields), len(r.names))
	}
	return err
}

func (r *textRows) text(column int) (string, bool) { return r.fields[column], true }

func (r *textRows) number(column int) (float64, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(r.fields[column]), 64)
	return n, err == nil
}

func (r *textRows) shown(column int) string { return quoted(strings.TrimSpace(r.fields[column])) }
