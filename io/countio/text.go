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

// textRows are the rows of CSV, or of TSV if the header has a tab. TSV knows no quotes: a feature may be one.
type textRows struct {
	names  []string
	read   func() ([]string, error)
	fields []string
}

const byteOrderMark = "\ufeff"

func openText(file io.Reader) (*textRows, error) {
	in := bufio.NewReaderSize(file, 1<<20)
	head, err := in.Peek(in.Size())
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	line, _, _ := strings.Cut(string(head), "\n")
	if strings.HasPrefix(line, byteOrderMark) {
		if _, err := in.Discard(len(byteOrderMark)); err != nil {
			return nil, err
		}
	}
	r := &textRows{read: csvRows(in)}
	if strings.Contains(line, "\t") {
		r.read = tsvRows(in)
	}
	names, err := r.read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty")
	}
	r.names = append(r.names, names...)
	return r, err
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

// tsvRows reads lines of any length, and passes over empty ones, as csv does.
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

func (r *textRows) header() []string { return r.names }

func (r *textRows) numeric(int) (string, bool) { return "", true }

func (r *textRows) next() (err error) {
	r.fields, err = r.read()
	if err == nil && len(r.fields) != len(r.names) {
		err = fmt.Errorf("has %d fields, the header %d", len(r.fields), len(r.names))
	}
	return err
}

func (r *textRows) text(column int) (string, bool) { return r.fields[column], true }

func (r *textRows) number(column int) (float64, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(r.fields[column]), 64)
	return n, err == nil
}

func (r *textRows) shown(column int) string { return quoted(strings.TrimSpace(r.fields[column])) }
