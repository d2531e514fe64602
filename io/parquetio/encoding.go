package parquetio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/format"
)

// What parquet-go decodes a page with takes its lengths from the page: a run of ten bytes may stand for 2^31 values. The
// functions here walk over the values of a page without decoding them, and hold that they are as many as its header says.

var errCut = errors.New("its values end too early")

// runSlack is by how many values runs may be longer than the page has. Values are packed by eight, and some writers fill
// up a longer run.
const runSlack = 504

// checkRuns holds that b, in the hybrid of runs and packed bits, has n values of a width in bits. Each run is shown to
// visit, if there is one, with how many of the n values it has.
func checkRuns(b []byte, n int, width uint, visit func(run []byte, values int, packed bool)) error {
	total := 0
	for at := 0; at < len(b); {
		header, size := uint64(b[at]), 1
		if header >= 0x80 {
			header, size = binary.Uvarint(b[at:])
		}
		if size <= 0 {
			return errCut
		}
		at += size
		packed, count, bytes := header&1 != 0, header>>1, int(width+7)/8
		if count > uint64(n-total+runSlack) || packed && 8*count > uint64(n-total+runSlack) {
			return fmt.Errorf("it has a run of %d values where %d are left", count, max(0, n-total))
		}
		if packed {
			bytes = int(count) * int(width)
			count *= 8
		}
		if bytes > len(b)-at {
			return errCut
		}
		if visit != nil {
			visit(b[at:at+bytes], min(int(count), max(0, n-total)), packed)
		}
		at += bytes
		total += int(count)
	}
	if total < n {
		return fmt.Errorf("it has %d values of %d", total, n)
	}
	return nil
}

// countPresent returns how many of n values are there, by their levels, each of which is a bit.
func countPresent(levels []byte, n int) (present int, err error) {
	err = checkRuns(levels, n, 1, func(run []byte, values int, packed bool) {
		if !packed {
			present += values * int(run[0]&1)
			return
		}
		for _, b := range run[:values/8] {
			present += bits.OnesCount8(b)
		}
		if rest := values % 8; rest > 0 {
			present += bits.OnesCount8(run[values/8] & (1<<rest - 1))
		}
	})
	return present, err
}

// checkDelta holds that b starts with n whole numbers of at most so many bits in DELTA_BINARY_PACKED, and returns where they end.
func checkDelta(b []byte, n int, most byte) (end int, err error) {
	var header [4]uint64 // size of a block, parts of a block, values, the first value
	at := 0
	for i := range header {
		v, size := binary.Uvarint(b[at:])
		if size <= 0 {
			return 0, errCut
		}
		header[i] = v
		at += size
	}
	block, parts, values := header[0], header[1], header[2]
	if block == 0 || block > 1<<16 || parts == 0 || parts > block || block/parts%32 != 0 {
		return 0, fmt.Errorf("it has blocks of %d values in %d parts", block, parts)
	}
	if values != uint64(n) {
		return 0, fmt.Errorf("it is said to have %d values, and encodes %d", n, values)
	}
	each := int(block / parts)
	for left := n - 1; left > 0; {
		_, size := binary.Uvarint(b[at:]) // the least difference
		if size <= 0 || int(parts) > len(b)-at-size {
			return 0, errCut
		}
		at += size
		widths := b[at : at+int(parts)]
		at += int(parts)
		for _, width := range widths {
			if left <= 0 {
				break
			}
			if width > most {
				return 0, fmt.Errorf("it packs numbers of %d bits in %d", most, width)
			}
			at = min(at+each*int(width)/8, len(b)) // the last part may be cut where no value is left
			left -= each
		}
	}
	return at, nil
}

// lengths decodes n lengths that b starts with, and returns the rest.
func lengths(b []byte, n int) (values []int32, rest []byte, err error) {
	end, err := checkDelta(b, n, 32)
	if err != nil {
		return nil, nil, err
	}
	values, err = new(delta.BinaryPackedEncoding).DecodeInt32(nil, b[:end])
	if err == nil && len(values) != n {
		err = errCut
	}
	return values, b[end:], err
}

// checkLengths holds that b has n texts behind their lengths.
func checkLengths(b []byte, n int) error {
	values, rest, err := lengths(b, n)
	if err != nil {
		return err
	}
	left := len(rest)
	for _, v := range values {
		if v < 0 || int(v) > left {
			return errCut
		}
		left -= int(v)
	}
	return nil
}

// checkPrefixes holds that b has n texts of which each may begin as the one before it does, and returns how many bytes
// all of them have.
func checkPrefixes(b []byte, n int) (bytes int64, err error) {
	prefixes, rest, err := lengths(b, n)
	if err != nil {
		return 0, err
	}
	suffixes, rest, err := lengths(rest, n)
	if err != nil {
		return 0, err
	}
	left, last := len(rest), int32(0)
	for i, p := range prefixes {
		s := suffixes[i]
		if p < 0 || p > last || s < 0 || int(s) > left || int64(p)+int64(s) > maxPage {
			return 0, errCut
		}
		left -= int(s)
		last = p + s
		bytes += int64(last)
	}
	return bytes, nil
}

// checkPlain holds that b has n values in the plain encoding.
func checkPlain(b []byte, n int, schema *format.SchemaElement) error {
	if schema.Type.V == format.ByteArray {
		for range n {
			if len(b) < 4 {
				return errCut
			}
			size := binary.LittleEndian.Uint32(b)
			if b = b[4:]; uint64(size) > uint64(len(b)) {
				return errCut
			}
			b = b[size:]
		}
		return nil
	}
	if int64(n)*width(schema) > 8*int64(len(b)) {
		return errCut
	}
	return nil
}

// width is how many bits a value of a fixed length takes.
func width(schema *format.SchemaElement) int64 {
	switch schema.Type.V {
	case format.Boolean:
		return 1
	case format.Int32, format.Float:
		return 32
	case format.Int64, format.Double:
		return 64
	case format.Int96:
		return 96
	}
	return 8 * int64(schema.TypeLength.V)
}

// plainDictionary is what older writers call RLEDictionary in a data page, and Plain in a dictionary.
//
//lint:ignore SA1019 their files are read
const plainDictionary = format.PlainDictionary

// checkValues holds that b has n values in some encoding. It returns how many bytes there are of texts which b has in part.
func checkValues(b []byte, n int, encoding format.Encoding, schema *format.SchemaElement) (texts int64, err error) {
	kind := schema.Type.V
	switch {
	case encoding == format.Plain:
		return 0, checkPlain(b, n, schema)
	case encoding == plainDictionary, encoding == format.RLEDictionary:
		return 0, checkPlaces(b, n)
	case encoding == format.RLE && kind == format.Boolean:
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
			return 0, errCut
		}
		return 0, checkRuns(b[4:4+binary.LittleEndian.Uint32(b)], n, 1, nil)
	case encoding == format.DeltaBinaryPacked && (kind == format.Int32 || kind == format.Int64):
		_, err = checkDelta(b, n, byte(width(schema)))
		return 0, err
	case encoding == format.DeltaLengthByteArray && kind == format.ByteArray:
		return 0, checkLengths(b, n)
	case encoding == format.DeltaByteArray && kind == format.ByteArray:
		return checkPrefixes(b, n)
	case encoding == format.ByteStreamSplit && kind != format.ByteArray && kind != format.Boolean && kind != format.Int96:
		return 0, checkPlain(b, n, schema)
	}
	return 0, fmt.Errorf("its encoding %s of %s is not supported", encoding, kind)
}

// checkPlaces holds that b has n places in a dictionary, behind the width of each in bits.
func checkPlaces(b []byte, n int) error {
	if len(b) == 0 && n == 0 {
		return nil
	}
	if len(b) == 0 {
		return errCut
	}
	if b[0] > 32 {
		return fmt.Errorf("it packs numbers of 32 bits in %d", b[0])
	}
	return checkRuns(b[1:], n, uint(b[0]), nil)
}
