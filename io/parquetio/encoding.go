package parquetio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/format"
)

// The decoders of parquet-go trust the lengths in a page: a run of ten bytes may announce 2^31 values. The functions here
// scan the values of a page without decoding them, and fail unless there are as many as the header announces.

var errCut = errors.New("the values are truncated")

// runSlack is the number of values by which runs may exceed the page. Values are packed by eight, and some writers pad
// longer runs.
const runSlack = 504

// checkRuns fails unless b, in the RLE/bit-packing hybrid encoding, has n values of width bits. It calls visit, unless nil,
// with every run and the number of values in it.
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
			return fmt.Errorf("a run has %d values where %d are left", count, max(0, n-total))
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
		return fmt.Errorf("found %d values of %d", total, n)
	}
	return nil
}

// countPresent returns how many of n values are not null, from their definition levels of one bit.
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

// checkDelta fails unless b starts with n DELTA_BINARY_PACKED integers of at most most bits. It returns where they end.
func checkDelta(b []byte, n int, most byte) (end int, err error) {
	var header [4]uint64 // block size, miniblocks in a block, values, first value
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
		return 0, fmt.Errorf("invalid blocks of %d values in %d miniblocks", block, parts)
	}
	if values != uint64(n) {
		return 0, fmt.Errorf("the header announces %d values, but %d are encoded", n, values)
	}
	each := int(block / parts)
	for left := n - 1; left > 0; {
		_, size := binary.Uvarint(b[at:]) // the minimum delta
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
				return 0, fmt.Errorf("numbers of %d bits are packed in %d", most, width)
			}
			at = min(at+each*int(width)/8, len(b)) // the last miniblock may be truncated after the last value
			left -= each
		}
	}
	return at, nil
}

// lengths decodes n lengths at the start of b, and returns the rest of b.
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

// checkLengths fails unless b is n lengths and then n texts (DELTA_LENGTH_BYTE_ARRAY).
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

// checkPrefixes fails unless b has n texts that share prefixes (DELTA_BYTE_ARRAY). It returns their total length in bytes.
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

// checkPlain fails unless b has n PLAIN values.
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

// width returns the bits of a value of fixed length.
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

// plainDictionary is the older name of RLEDictionary in data pages, and of Plain in dictionary pages.
//
//lint:ignore SA1019 files of older writers have it
const plainDictionary = format.PlainDictionary

// checkValues fails unless b has n values in an encoding. It returns the length of texts that share prefixes, in bytes.
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
	return 0, fmt.Errorf("encoding %s of %s is not supported", encoding, kind)
}

// checkPlaces fails unless b is a bit width and then n dictionary indexes.
func checkPlaces(b []byte, n int) error {
	if len(b) == 0 && n == 0 {
		return nil
	}
	if len(b) == 0 {
		return errCut
	}
	if b[0] > 32 {
		return fmt.Errorf("numbers of 32 bits are packed in %d", b[0])
	}
	return checkRuns(b[1:], n, uint(b[0]), nil)
}
