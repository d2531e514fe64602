package corpusio

import (
	"bytes"
	encodingcsv "encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ParseLabelMap reads a list of new names of labels, one per line: old<TAB>new, or old,new as CSV if no line has a tab. Its
// error names the line.
func ParseLabelMap(content []byte) (map[string]string, error) {
	content = bytes.TrimPrefix(content, mark)
	if !utf8.Valid(content) {
		valid := 0
		for valid < len(content) {
			r, n := utf8.DecodeRune(content[valid:])
			if r == utf8.RuneError && n == 1 {
				break
			}
			valid += n
		}
		return nil, fmt.Errorf("line %d: not UTF-8", 1+bytes.Count(content[:valid], []byte{'\n'}))
	}
	m := labelMap{names: map[string]string{}, lines: map[string]int{}}
	parse := m.parseTSV
	if bytes.IndexByte(content, '\t') < 0 {
		parse = m.parseCSV
	}
	if err := parse(content); err != nil {
		return nil, err
	}
	if len(m.names) == 0 {
		return nil, errors.New("there are no labels; a line is the old and the new label, separated by a tab or a comma")
	}
	return m.names, nil
}

type labelMap struct {
	names map[string]string
	lines map[string]int
}

func (m labelMap) parseTSV(content []byte) error {
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		if strings.TrimSpace(line) == "" {
			continue
		}
		if err := m.add(number, strings.Split(strings.TrimRight(line, "\r\n"), "\t")); err != nil {
			return err
		}
	}
	return nil
}

func (m labelMap) parseCSV(content []byte) error {
	r := encodingcsv.NewReader(bytes.NewReader(content))
	r.FieldsPerRecord, r.ReuseRecord = -1, true
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		var malformed *encodingcsv.ParseError
		if errors.As(err, &malformed) {
			return fmt.Errorf("line %d: %w", malformed.StartLine, malformed.Err)
		}
		if err != nil {
			return err
		}
		line, _ := r.FieldPos(0)
		if len(fields) == 1 && strings.TrimSpace(fields[0]) == "" {
			continue
		}
		if err := m.add(line, fields); err != nil {
			return err
		}
	}
}

func (m labelMap) add(line int, fields []string) error {
	if len(fields) != 2 {
		return fmt.Errorf("line %d: must be the old and the new label, separated by a tab or a comma", line)
	}
	// Byte-order marks are skipped at the start of any line, as in documents.
	fields[0] = strings.TrimLeftFunc(fields[0], func(r rune) bool { return r == '\ufeff' || unicode.IsSpace(r) })
	var labels [2]string
	for i, field := range fields {
		label, err := CleanLabel(field)
		if err != nil {
			return fmt.Errorf("line %d: the %s label: %w", line, []string{"old", "new"}[i], err)
		}
		labels[i] = label
	}
	if first, ok := m.lines[labels[0]]; ok {
		return fmt.Errorf("line %d: the label %q is already in line %d", line, labels[0], first)
	}
	m.names[labels[0]], m.lines[labels[0]] = labels[1], line
	return nil
}
