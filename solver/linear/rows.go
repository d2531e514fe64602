package linear

import (
	"cmp"
	"errors"
	"math"
	"slices"
)

// Rows are documents as sparse rows of a matrix, with a class each. Equal rows are kept once, with their number.
type Rows struct {
	Columns, Classes int

	starts  []int // of the entries of each row, and their end
	columns []int32
	values  []float64
	class   []int32
	count   []float64
}

// NewRows returns an empty matrix.
func NewRows(columns, classes int) *Rows {
	return &Rows{Columns: columns, Classes: classes, starts: []int{0}}
}

// Add adds a number of equal documents of a class. columns must be ascending, from 0 to Columns-1, and values parallel to them.
func (r *Rows) Add(class int32, count float64, columns []int32, values []float64) {
	r.columns, r.values = append(r.columns, columns...), append(r.values, values...)
	r.starts = append(r.starts, len(r.columns))
	r.class, r.count = append(r.class, class), append(r.count, count)
}

// Len returns the number of rows.
func (r *Rows) Len() int { return len(r.class) }

// Entries returns the number of entries of all rows.
func (r *Rows) Entries() int { return len(r.columns) }

// row returns the entries of a row.
func (r *Rows) row(i int) ([]int32, []float64) {
	from, to := r.starts[i], r.starts[i+1]
	return r.columns[from:to], r.values[from:to]
}

// ErrValues is the error for values that are not finite, or too large to be squared.
var ErrValues = errors.New("the values of the documents are not finite, or too large")

// Merge returns the rows in the order of their contents, with equal rows merged. Rows that count zero times are left out.
func (r *Rows) Merge() (*Rows, error) {
	order := make([]int32, 0, r.Len())
	for i, n := range r.count {
		if n > 0 {
			order = append(order, int32(i))
		}
	}
	compare := func(a, b int32) int {
		if c := cmp.Compare(r.class[a], r.class[b]); c != 0 {
			return c
		}
		columnsA, valuesA := r.row(int(a))
		columnsB, valuesB := r.row(int(b))
		if c := slices.Compare(columnsA, columnsB); c != 0 {
			return c
		}
		return slices.Compare(valuesA, valuesB)
	}
	slices.SortFunc(order, compare)
	merged := NewRows(r.Columns, r.Classes)
	merged.columns, merged.values = make([]int32, 0, len(r.columns)), make([]float64, 0, len(r.values))
	for i, at := range order {
		if i > 0 && compare(order[i-1], at) == 0 {
			merged.count[merged.Len()-1] += r.count[at]
			continue
		}
		columns, values := r.row(int(at))
		merged.Add(r.class[at], r.count[at], columns, values)
	}
	for _, x := range merged.values {
		if !(math.Abs(x) <= most) {
			return nil, ErrValues
		}
	}
	return merged, nil
}

// most is the largest value whose square can be added up over any number of documents.
const most = 1e130

// Project returns the rows with other columns and classes: column[j] is the number of the column j among n, and class[c] that
// of the class c among so many; with -1, entries of a column, and rows of a class, are left out. The numbers of columns must be
// in the same order.
func (r *Rows) Project(column []int32, n int, class []int32, classes int) *Rows {
	p, rows, entries := NewRows(n, classes), 0, 0
	for i, c := range r.class {
		if class[c] < 0 {
			continue
		}
		rows++
		columns, _ := r.row(i)
		for _, from := range columns {
			if column[from] >= 0 {
				entries++
			}
		}
	}
	p.columns, p.values = make([]int32, 0, entries), make([]float64, 0, entries)
	p.starts, p.class, p.count = append(make([]int, 0, rows+1), 0), make([]int32, 0, rows), make([]float64, 0, rows)
	for i, c := range r.class {
		if class[c] < 0 {
			continue
		}
		columns, values := r.row(i)
		for j, from := range columns {
			if to := column[from]; to >= 0 {
				p.columns, p.values = append(p.columns, to), append(p.values, values[j])
			}
		}
		p.Add(class[c], r.count[i], nil, nil)
	}
	return p
}

// Counts returns the number of documents of each class.
func (r *Rows) Counts() []float64 {
	counts := make([]float64, r.Classes)
	for i, c := range r.class {
		counts[c] += r.count[i]
	}
	return counts
}
