package parquetio

import (
	"bytes"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go/format"
)

func TestAppendText(t *testing.T) {
	int64s := Column{kind: timestamp, unit: time.Nanosecond}
	for _, c := range []struct {
		column Column
		value  []byte
		want   string
		ok     bool
	}{
		{Column{kind: boolean}, []byte{1}, "true", true},
		{Column{kind: signed}, []byte{0xfe, 0xff, 0xff, 0xff}, "-2", true},
		{Column{kind: unsigned}, []byte{0xfe, 0xff, 0xff, 0xff}, "4294967294", true},
		{Column{kind: float}, []byte{0, 0x3e}, "1.5", true},        // of 16 bits
		{Column{kind: float}, []byte{1, 0}, "5.9604645e-08", true}, // the smallest
		{Column{kind: float}, []byte{0, 0x7e}, "", false},          // NaN
		{Column{kind: float}, []byte{0xcd, 0xcc, 0xcc, 0x3d}, "0.1", true},
		{Column{kind: decimal, scale: 2}, []byte{0xff, 0x38}, "-2.00", true},
		{Column{kind: decimal, scale: 4}, []byte{7}, "0.0007", true},
		{Column{kind: decimal, integer: true}, []byte{7, 0, 0, 0}, "7", true},
		{Column{kind: decimal}, nil, "0", true},
		{Column{kind: decimal}, make([]byte, 100), "", false},
		{Column{kind: date}, []byte{0xff, 0xff, 0xff, 0xff}, "1969-12-31", true},
		{Column{kind: clock, unit: time.Millisecond}, []byte{0xf4, 1, 0, 0}, "00:00:00.5", true},
		{int64s, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, "1969-12-31T23:59:59.999999999", true},
		{Column{kind: int96}, []byte{0, 0, 0, 0, 0, 0, 0, 0, 0x8c, 0x3d, 0x25, 0}, "1970-01-01T00:00:00", true},
		{Column{kind: uuid}, []byte("0123456789abcdef"), "30313233-3435-3637-3839-616263646566", true},
		{Column{}, []byte("text"), "text", true},
	} {
		got, ok := c.column.AppendText(nil, c.value)
		if string(got) != c.want || ok != c.ok {
			t.Errorf("%+v %x: %q, %v; want %q, %v", c.column, c.value, got, ok, c.want, c.ok)
		}
	}
	if c := (Column{kind: decimal, scale: 1}); c.Number([]byte{15}) != 1.5 || !math.IsNaN(c.Number(make([]byte, 100))) {
		t.Error("decimals have wrong numbers")
	}
}

// A page whose bytes differ from its checksum is an error, even if it can be decoded.
func TestTableChecksum(t *testing.T) {
	b, err := os.ReadFile("../corpusio/testdata/parquet/pyarrow_v2_delta.parquet")
	if err != nil {
		t.Fatal(err)
	}
	failed := 0
	for at := 20; at < len(b)/3; at++ {
		changed := slices.Clone(b)
		changed[at] ^= 1
		table, err := OpenTable(bytes.NewReader(changed), int64(len(b)))
		if err != nil {
			continue
		}
		for column := range 2 {
			v := table.Values(0, column)
			for range table.Groups[0].Rows {
				if _, err = v.Next(); err != nil {
					break
				}
			}
			if err != nil && strings.Contains(err.Error(), "the checksum of the page does not match") {
				failed++
			}
		}
	}
	if failed < 50 {
		t.Errorf("%d changes were found by the checksum", failed)
	}
}

// Values of every width are decoded from runs and from packed bits.
func TestAppendRuns(t *testing.T) {
	for width := uint(0); width <= 32; width++ {
		mask := uint64(1)<<width - 1
		var want []uint32
		packed := make([]byte, width)
		for i := range 8 {
			v := uint32(uint64(i) * 0x9e3779b97f4a7c15 >> 20 & mask)
			want = append(want, v)
			for bit := range width {
				at := uint(i)*width + bit
				packed[at/8] |= byte(v>>bit&1) << (at % 8)
			}
		}
		b := append([]byte{1<<1 | 1}, packed...)
		run := uint32(mask & 0x12345678)
		b = append(b, 5<<1)
		for i := range (width + 7) / 8 {
			b = append(b, byte(run>>(8*i)))
		}
		want = append(want, run, run, run, run, run)
		got, err := appendRuns[uint32](nil, b, len(want), width)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("width %d: %v, %v; want %v", width, got, err, want)
		}
	}
}

func TestNestedColumns(t *testing.T) {
	b, err := os.ReadFile("../corpusio/testdata/parquet/pyarrow.parquet")
	if err != nil {
		t.Fatal(err)
	}
	table, err := OpenTable(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(table.Columns); n != 15 || table.Columns[14].Problem != "is nested" || table.Columns[0].Problem != "" || len(table.leaves) != 16 {
		t.Errorf("%d columns, %d leaves: %+v", n, len(table.leaves), table.Columns)
	}
	for _, schema := range [][]format.SchemaElement{nil, table.leaves[:1], {{}, {}}} {
		if len(schema) == 1 {
			schema = slices.Clone(schema)
			schema[0].NumChildren.V = 1 << 30
		}
		if _, _, err := topColumns(schema); err == nil {
			t.Errorf("%+v is a schema", schema)
		}
	}
}
