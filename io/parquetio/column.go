package parquetio

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"math/big"
	"slices"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// Column is a column at the top level of a [Table].
type Column struct {
	Name    string
	Problem string // why its values cannot be read, such as "is nested"; empty if they can

	leaf    int
	kind    kind
	integer bool // a decimal is stored as an integer
	scale   int  // of a decimal
	unit    time.Duration
	utc     bool
}

// kind is what the values of a column are.
type kind int

const (
	text kind = iota
	boolean
	signed
	unsigned
	float
	decimal
	date
	clock
	timestamp
	int96
	uuid
)

// maxDecimal is the maximum length of a decimal, in bytes, and of its fraction, in digits.
const maxDecimal = 64

// topColumns returns the columns at the top level, and all that have values.
func topColumns(schema []format.SchemaElement) (columns []Column, leaves []format.SchemaElement, err error) {
	if len(schema) == 0 {
		return nil, nil, errors.New("the schema is missing")
	}
	children := func(c *format.SchemaElement) int { return int(max(0, c.NumChildren.V)) }
	rest := schema[1:]
	for range schema[0].NumChildren.V {
		if len(rest) == 0 {
			return nil, nil, errors.New("the schema is truncated")
		}
		columns = append(columns, columnOf(&rest[0], len(leaves)))
		for open := 1; open > 0; open-- { // the column and everything below it
			if len(rest) == 0 {
				return nil, nil, errors.New("the schema is truncated")
			}
			if children(&rest[0]) == 0 && rest[0].Type.Valid {
				leaves = append(leaves, rest[0])
			}
			open += min(children(&rest[0]), len(schema))
			rest = rest[1:]
		}
	}
	if len(rest) > 0 {
		return nil, nil, errors.New("the schema has columns that belong to none")
	}
	return columns, leaves, nil
}

func columnOf(s *format.SchemaElement, leaf int) Column {
	c := Column{Name: s.Name, leaf: leaf}
	switch {
	case s.NumChildren.V > 0 || !s.Type.Valid:
		c.Problem = "is nested"
	case s.RepetitionType.V == format.Repeated:
		c.Problem = "is a list"
	case s.RepetitionType.V < 0 || s.RepetitionType.V > format.Repeated || s.Type.V < 0 || s.Type.V > format.FixedLenByteArray:
		c.Problem = "has an unknown type"
	case s.Type.V == format.FixedLenByteArray && (s.TypeLength.V < 1 || s.TypeLength.V > maxFixed):
		c.Problem = "has values of " + strconv.Itoa(int(s.TypeLength.V)) + " bytes; the limits are 1 to " + strconv.Itoa(maxFixed)
	default:
		c.setKind(s)
	}
	return c
}

func (c *Column) setKind(s *format.SchemaElement) {
	switch s.Type.V {
	case format.Boolean:
		c.kind = boolean
	case format.Int32, format.Int64:
		c.kind = signed
	case format.Float, format.Double:
		c.kind = float
	case format.Int96:
		c.kind = int96
	}
	switch l := s.LogicalType.Value.(type) {
	case *format.DecimalType:
		c.setDecimal(l.Scale)
	case *format.DateType:
		c.kind = date
	case *format.TimeType:
		c.setTime(clock, &l.Unit, l.IsAdjustedToUTC)
	case *format.TimestampType:
		c.setTime(timestamp, &l.Unit, l.IsAdjustedToUTC)
	case *format.IntType:
		if !l.IsSigned {
			c.kind = unsigned
		}
	case *format.UUIDType:
		c.kind = uuid
	case *format.Float16Type:
		c.kind = float
	case *format.VariantType, *format.GeometryType, *format.GeographyType, *format.BsonType:
		c.Problem = "has the type " + l.String() + ", which is not supported"
	case nil:
		c.setConverted(s)
	}
	c.checkWidth(s)
}

// setConverted knows the types of older writers.
func (c *Column) setConverted(s *format.SchemaElement) {
	if !s.ConvertedType.Valid {
		return
	}
	switch s.ConvertedType.V {
	case deprecated.Decimal:
		c.setDecimal(s.Scale.V)
	case deprecated.Date:
		c.kind = date
	case deprecated.TimeMillis:
		c.kind, c.unit = clock, time.Millisecond
	case deprecated.TimeMicros:
		c.kind, c.unit = clock, time.Microsecond
	case deprecated.TimestampMillis:
		c.kind, c.unit, c.utc = timestamp, time.Millisecond, true
	case deprecated.TimestampMicros:
		c.kind, c.unit, c.utc = timestamp, time.Microsecond, true
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		c.kind = unsigned
	case deprecated.Bson, deprecated.Interval:
		c.Problem = "has the type BSON or INTERVAL, which is not supported"
	}
}

func (c *Column) setDecimal(scale int32) {
	c.kind, c.scale = decimal, int(scale)
	if scale < 0 || scale > maxDecimal {
		c.Problem = "is a decimal with the scale " + strconv.Itoa(int(scale))
	}
}

func (c *Column) setTime(k kind, unit *format.TimeUnit, utc bool) {
	if unit.Value == nil {
		c.Problem = "is a time without a unit"
		return
	}
	c.kind, c.unit, c.utc = k, unit.Value.Duration(), utc
}

// checkWidth fails if the logical type does not fit the stored type.
func (c *Column) checkWidth(s *format.SchemaElement) {
	var fits []format.Type
	switch c.kind {
	case unsigned, clock, timestamp:
		fits = []format.Type{format.Int32, format.Int64}
	case date:
		fits = []format.Type{format.Int32}
	case decimal:
		fits = []format.Type{format.Int32, format.Int64, format.ByteArray, format.FixedLenByteArray}
	case uuid:
		fits = []format.Type{format.FixedLenByteArray}
	case float:
		fits = []format.Type{format.Float, format.Double, format.FixedLenByteArray}
	default:
		return
	}
	wrong := c.kind == uuid && s.TypeLength.V != 16 || c.kind == float && s.Type.V == format.FixedLenByteArray && s.TypeLength.V != 2
	if c.integer = c.kind == decimal && s.Type.V <= format.Int64; wrong || !slices.Contains(fits, s.Type.V) {
		c.Problem = "has a logical type that does not fit its values"
	}
}

// IsText reports whether the values are strings or other bytes, which AppendText appends as they are.
func (c *Column) IsText() bool { return c.kind == text }

// Numeric reports whether the values are numbers or booleans.
func (c *Column) Numeric() bool {
	switch c.kind {
	case boolean, signed, unsigned, float, decimal:
		return c.Problem == ""
	}
	return false
}

// Number returns a value of a numeric column; NaN if it is a decimal that is too long. Booleans are 0 and 1.
func (c *Column) Number(value []byte) float64 {
	switch c.kind {
	case boolean:
		return float64(value[0])
	case unsigned:
		return float64(little(value))
	case float:
		f, _ := floating(value)
		return f
	case decimal:
		text, ok := c.AppendText(nil, value)
		if f, err := strconv.ParseFloat(string(text), 64); ok && err == nil {
			return f
		}
		return math.NaN()
	}
	return float64(extended(value))
}

// AppendText appends the text of a value: 3, 0.5, true, 2024-05-01, 2024-05-01T10:30:00Z (without Z if the column has no time
// zone) or the bytes of a string. It returns false for a value without a text, such as NaN.
func (c *Column) AppendText(to, value []byte) ([]byte, bool) {
	switch c.kind {
	case boolean:
		return strconv.AppendBool(to, value[0] != 0), true
	case signed:
		return strconv.AppendInt(to, extended(value), 10), true
	case unsigned:
		return strconv.AppendUint(to, little(value), 10), true
	case float:
		return appendFloat(to, value)
	case decimal:
		return c.appendDecimal(to, value)
	case date:
		return time.Unix(86400*extended(value), 0).UTC().AppendFormat(to, time.DateOnly), true
	case clock:
		return c.time(extended(value)).AppendFormat(to, "15:04:05.999999999"), true
	case timestamp:
		return c.appendTime(to, c.time(extended(value))), true
	case int96: // nanoseconds of the day, and the Julian day
		day, nanoseconds := int64(binary.LittleEndian.Uint32(value[8:])), int64(binary.LittleEndian.Uint64(value))
		const epoch = 2440588
		return c.appendTime(to, time.Unix(86400*(day-epoch)+nanoseconds/1e9, nanoseconds%1e9).UTC()), true
	case uuid:
		for i, b := range value {
			if i == 4 || i == 6 || i == 8 || i == 10 {
				to = append(to, '-')
			}
			to = hex.AppendEncode(to, []byte{b})
		}
		return to, true
	}
	return append(to, value...), true
}

func (c *Column) time(v int64) time.Time {
	perSecond := int64(time.Second / c.unit)
	return time.Unix(v/perSecond, v%perSecond*int64(c.unit)).UTC()
}

func (c *Column) appendTime(to []byte, t time.Time) []byte {
	to = t.AppendFormat(to, "2006-01-02T15:04:05.999999999")
	if c.utc {
		to = append(to, 'Z')
	}
	return to
}

func appendFloat(to, value []byte) ([]byte, bool) {
	f, bits := floating(value)
	if math.IsNaN(f) {
		return to, false
	}
	verb := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		verb = 'e'
	}
	return strconv.AppendFloat(to, f, verb, -1, bits), true
}

func (c *Column) appendDecimal(to, value []byte) ([]byte, bool) {
	if len(value) > maxDecimal {
		return to, false
	}
	n := new(big.Int)
	if c.integer {
		n.SetInt64(extended(value))
	} else if n.SetBytes(value); len(value) > 0 && value[0] >= 0x80 { // big-endian, negative
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(value))))
	}
	if n.Sign() < 0 {
		to = append(to, '-')
	}
	digits := n.Abs(n).Append(nil, 10)
	for len(digits) <= c.scale {
		digits = append([]byte{'0'}, digits...)
	}
	point := len(digits) - c.scale
	if to = append(to, digits[:point]...); c.scale > 0 {
		to = append(append(to, '.'), digits[point:]...)
	}
	return to, true
}

// little returns an unsigned number of 4 or 8 bytes.
func little(value []byte) uint64 {
	if len(value) == 4 {
		return uint64(binary.LittleEndian.Uint32(value))
	}
	return binary.LittleEndian.Uint64(value)
}

// extended returns a signed number of 4 or 8 bytes.
func extended(value []byte) int64 {
	if len(value) == 4 {
		return int64(int32(binary.LittleEndian.Uint32(value)))
	}
	return int64(binary.LittleEndian.Uint64(value))
}

// floating returns a number of 2, 4 or 8 bytes, and the bits of its text.
func floating(value []byte) (f float64, bits int) {
	switch len(value) {
	case 2:
		return half(binary.LittleEndian.Uint16(value)), 32
	case 4:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(value))), 32
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(value)), 64
}

// half returns a number of 16 bits (IEEE 754 binary16).
func half(b uint16) float64 {
	sign, exponent, fraction := 1-2*float64(b>>15), int(b>>10&31), float64(b&1023)
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}
