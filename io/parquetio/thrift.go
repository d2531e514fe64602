package parquetio

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Value types of the Thrift compact protocol.
const (
	typeStop = iota
	typeTrue
	typeFalse
	typeByte
	typeI16
	typeI32
	typeI64
	typeDouble
	typeBinary
	typeList
	typeSet
	typeMap
	typeStruct
	typeUUID
)

// maxDepth limits the nesting of structs and lists. Parquet needs eight levels. parquet-go recurses, and a Go program cannot
// recover from a stack overflow.
const maxDepth = 32

// errShort means that the bytes end within the struct.
var errShort = errors.New("the Thrift metadata are truncated")

// measured is the size of a struct that is not decoded yet.
type measured struct {
	bytes   int // its length
	structs int // in lists; parquet-go allocates up to 560 bytes for each
	values  int // of other types, in lists
}

// frame is an open struct, list or map.
type frame struct {
	left     int     // elements of a list, keys and values of a map; -1 in a struct, which ends with typeStop
	elements [2]byte // types of key and value; equal in a list
}

// measure scans the struct at the start of b without recursion or allocation. It fails if a list needs more bytes than are
// left.
func measure(b []byte) (m measured, err error) {
	var frames [maxDepth]frame
	frames[0].left = -1
	for depth := 1; depth > 0; {
		f := &frames[depth-1]
		if f.left == 0 {
			depth--
			continue
		}
		var kind byte
		if f.left > 0 {
			kind = f.elements[f.left%2]
			f.left--
			if kind == typeTrue || kind == typeFalse {
				kind = typeByte // outside a struct a bool takes a byte
			}
		} else {
			if kind, err = m.field(b); err != nil {
				return m, err
			}
			if kind == typeStop {
				depth--
				continue
			}
		}
		var inner frame
		switch kind {
		case typeTrue, typeFalse: // the type is the value
		case typeByte:
			err = m.skip(b, 1)
		case typeI16, typeI32, typeI64:
			_, err = m.varint(b)
		case typeDouble:
			err = m.skip(b, 8)
		case typeUUID:
			err = m.skip(b, 16)
		case typeBinary:
			var n uint64
			if n, err = m.varint(b); err == nil {
				err = m.skip(b, n)
			}
		case typeStruct:
			inner.left = -1
		case typeList, typeSet:
			inner, err = m.list(b)
		case typeMap:
			inner, err = m.mapping(b)
		default:
			err = fmt.Errorf("the Thrift metadata have the unknown type %d", kind)
		}
		if err != nil {
			return m, err
		}
		if inner.left != 0 {
			if depth == maxDepth {
				return m, fmt.Errorf("the Thrift metadata are nested more than %d levels deep", maxDepth)
			}
			frames[depth] = inner
			depth++
		}
	}
	return m, nil
}

// field reads the header of a field, and returns its type.
func (m *measured) field(b []byte) (kind byte, err error) {
	if m.bytes == len(b) {
		return 0, errShort
	}
	header := b[m.bytes]
	m.bytes++
	kind = header & 0xf
	if kind != typeStop && header>>4 == 0 { // the field ID follows
		_, err = m.varint(b)
	}
	return kind, err
}

func (m *measured) list(b []byte) (f frame, err error) {
	if m.bytes == len(b) {
		return f, errShort
	}
	header := b[m.bytes]
	m.bytes++
	n := uint64(header >> 4)
	if n == 0xf {
		if n, err = m.varint(b); err != nil {
			return f, err
		}
	}
	kind := header & 0xf
	return frame{int(n), [2]byte{kind, kind}}, m.elements(b, n, 1, kind)
}

func (m *measured) mapping(b []byte) (f frame, err error) {
	n, err := m.varint(b)
	if err != nil || n == 0 {
		return f, err
	}
	if m.bytes == len(b) {
		return f, errShort
	}
	key, value := b[m.bytes]>>4, b[m.bytes]&0xf
	m.bytes++
	return frame{2 * int(n), [2]byte{key, value}}, m.elements(b, n, 2, value)
}

// elements counts n elements, each of which has at least least bytes.
func (m *measured) elements(b []byte, n, least uint64, kind byte) error {
	if n > uint64(len(b)-m.bytes)/least {
		return errShort
	}
	if kind == typeStruct {
		m.structs += int(n)
	} else {
		m.values += int(n)
	}
	return nil
}

func (m *measured) skip(b []byte, n uint64) error {
	if n > uint64(len(b)-m.bytes) {
		return errShort
	}
	m.bytes += int(n)
	return nil
}

func (m *measured) varint(b []byte) (uint64, error) {
	v, n := binary.Uvarint(b[m.bytes:])
	switch {
	case n == 0:
		return 0, errShort
	case n < 0:
		return 0, errors.New("the Thrift metadata have a number of more than 64 bits")
	}
	m.bytes += n
	return v, nil
}
