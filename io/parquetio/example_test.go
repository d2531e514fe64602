package parquetio_test

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go"

	"github.com/sparsenb/sparsenb/io/parquetio"
)

// A file is opened, and read through Do. A truncated file is an *InvalidError.
func Example() {
	type Row struct {
		Word string `parquet:"word"`
	}
	var b bytes.Buffer
	if err := parquet.Write(&b, []Row{{"upon"}, {"whilst"}}); err != nil {
		panic(err)
	}
	file, err := parquetio.Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		panic(err)
	}
	rows := make([]Row, 2)
	err = file.Do(func() error {
		_, err := parquet.NewGenericReader[Row](file.File).Read(rows)
		return err
	})
	fmt.Println(rows, err)

	b.Truncate(b.Len() - 1)
	_, err = parquetio.Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	fmt.Println("invalid:", errors.As(err, new(*parquetio.InvalidError)))
	// Output:
	// [{upon} {whilst}] EOF
	// invalid: true
}
