package parquetio

import (
	"encoding/binary"
	"errors"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/format"
)

// plain is a list of values: texts, or values of a fixed width.
type plain struct {
	data  []byte
	width int      // in bytes; 0 for texts
	texts []region // of data
}

func (l *plain) len() int {
	if l.width == 0 {
		return len(l.texts)
	}
	return len(l.data) / l.width
}

// at returns a value, which is not nil.
func (l *plain) at(i int) []byte {
	if l.width == 0 {
		t := l.texts[i]
		return l.data[t.start:t.end:t.end]
	}
	return l.data[i*l.width : (i+1)*l.width : (i+1)*l.width]
}

// decode decodes the values of a page, whose encoding was checked. The list uses the memory of the page, if it can.
func (l *plain) decode(c content, schema *format.SchemaElement) error {
	n, b := c.present, c.values
	l.texts, l.width = l.texts[:0], int(width(schema)/8)
	if schema.Type.V == format.ByteArray {
		l.width = 0
	}
	switch c.encoding {
	case format.Plain:
		switch schema.Type.V {
		case format.Boolean:
			l.bits(b, n)
		case format.ByteArray:
			l.data = b
			for at := int64(0); len(l.texts) < n; {
				end := at + 4 + int64(binary.LittleEndian.Uint32(b[at:]))
				l.texts = append(l.texts, region{at + 4, end})
				at = end
			}
		default:
			l.data = b[:n*l.width]
		}
		return nil
	case format.RLE: // booleans
		bits, err := appendRuns[uint8](nil, b[4:4+binary.LittleEndian.Uint32(b)], n, 1)
		l.data, l.width = bits, 1
		return err
	case format.DeltaBinaryPacked:
		return l.deltas(b, n)
	case format.DeltaLengthByteArray:
		sizes, rest, err := lengths(b, n)
		l.data = rest
		at := int64(0)
		for _, size := range sizes {
			l.texts = append(l.texts, region{at, at + int64(size)})
			at += int64(size)
		}
		return err
	case format.DeltaByteArray:
		return l.prefixed(b, n)
	case format.ByteStreamSplit:
		l.data = make([]byte, n*l.width)
		for i := range n {
			for k := range l.width {
				l.data[i*l.width+k] = b[k*n+i]
			}
		}
		return nil
	}
	return errors.New("unknown encoding " + c.encoding.String())
}

func (l *plain) bits(b []byte, n int) {
	l.data, l.width = make([]byte, n), 1
	for i := range l.data {
		l.data[i] = b[i/8] >> (i % 8) & 1
	}
}

func (l *plain) deltas(b []byte, n int) error {
	l.data = make([]byte, 0, n*l.width)
	if l.width == 4 {
		values, err := new(delta.BinaryPackedEncoding).DecodeInt32(nil, b)
		if err != nil || len(values) != n {
			return errors.Join(errCut, err)
		}
		for _, v := range values {
			l.data = binary.LittleEndian.AppendUint32(l.data, uint32(v))
		}
		return nil
	}
	values, err := new(delta.BinaryPackedEncoding).DecodeInt64(nil, b)
	if err != nil || len(values) != n {
		return errors.Join(errCut, err)
	}
	for _, v := range values {
		l.data = binary.LittleEndian.AppendUint64(l.data, uint64(v))
	}
	return nil
}

// prefixed decodes texts that share prefixes with those before them.
func (l *plain) prefixed(b []byte, n int) error {
	prefixes, rest, err := lengths(b, n)
	if err != nil {
		return err
	}
	sizes, rest, err := lengths(rest, n)
	if err != nil {
		return err
	}
	l.data = nil
	last := int64(0)
	for i, size := range sizes {
		start := int64(len(l.data))
		l.data = append(l.data, l.data[last:last+int64(prefixes[i])]...)
		l.data = append(l.data, rest[:size]...)
		rest, last = rest[size:], start
		l.texts = append(l.texts, region{start, int64(len(l.data))})
	}
	return nil
}
