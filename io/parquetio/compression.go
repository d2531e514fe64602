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

// decompress decompresses b into to, and fails if its capacity, the announced size of the page, is not enough. parquet-go
// would allocate more.
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
		// parquet-go 0.32.0 decompresses into memory that it does not read afterwards, unless the page shrinks to a third.
		// Tables written by pyarrow had wrong counts, without an error.
		return nil, errors.New("compression LZ4_RAW is not supported, because of a bug in the Parquet library; write the file with zstd or snappy")
	case format.Gzip:
		r, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, err
		}
		return readUpTo(r, to)
	case format.Brotli:
		return readUpTo(brotli.NewReader(bytes.NewReader(b)), to)
	}
	return nil, fmt.Errorf("compression %s is not supported; write the file with zstd or snappy", codec)
}

// zstdDecoder is shared by all files and goroutines, because it is expensive to create.
var zstdDecoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		panic("parquetio: " + err.Error()) // invalid options
	}
	return d
})

// readUpTo reads all of r into to, and fails if its capacity is not enough.
func readUpTo(r io.Reader, to []byte) ([]byte, error) {
	n, err := io.ReadFull(r, to[:cap(to)])
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF) && n < cap(to):
		// A truncated stream ends like this too. The check of the values detects it.
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
	return fmt.Errorf("the header announces %d bytes, but it decompresses to more", n)
}
