package parquetio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// decompress decompresses b into the memory of to, whose capacity is what the page says it has: no more is ever taken.
// parquet-go takes what it needs instead.
func decompress(to, b []byte, codec format.CompressionCodec) ([]byte, error) {
	to = to[:0]
	switch codec {
	case format.Snappy:
		n, err := snappy.DecodedLen(b)
		if err != nil || n > cap(to) {
			return nil, tooLong(err, cap(to))
		}
		return snappy.Decode(to[:cap(to)], b)
	case format.Zstd:
		to, err := zstdDecoder().DecodeAll(b, to)
		if errors.Is(err, zstd.ErrDecoderSizeExceeded) {
			err = tooLong(nil, cap(to))
		}
		return to, err
	case format.Lz4Raw:
		// parquet-go 0.32.0 decompresses to other memory than it then reads, unless a page shrinks to a third. Tables
		// written by pyarrow had wrong counts, without an error.
		return nil, errors.New("its compression LZ4_RAW is not read rightly by the Parquet library; write the file with zstd or snappy")
	case format.Gzip:
		r, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, err
		}
		return readUpTo(r, to)
	case format.Brotli:
		return readUpTo(brotli.NewReader(bytes.NewReader(b)), to)
	}
	return nil, fmt.Errorf("its compression %s is not supported; write the file with zstd or snappy", codec)
}

// zstdDecoder is for all files: it is dear to begin with, and may be used by several goroutines.
var zstdDecoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		panic("parquetio: " + err.Error()) // of the options
	}
	return d
})

// readUpTo reads all there is into the memory of to.
func readUpTo(r io.Reader, to []byte) ([]byte, error) {
	n, err := io.ReadFull(r, to[:cap(to)])
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF) && n < cap(to):
		// A stream that is cut ends like this too: what is missing then shows in the values.
		return to[:n], nil
	case err != nil:
		return nil, err
	}
	var more [1]byte
	if n, _ := r.Read(more[:]); n > 0 {
		return nil, tooLong(nil, cap(to))
	}
	return to[:n], nil
}

func tooLong(err error, n int) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("it is said to have %d bytes, and decompresses to more", n)
}
