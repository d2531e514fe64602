package solver

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
)

// Vectors hold the counts of features in C classes, sparsely. Features with equal counts are one vector with a size. A
// vector takes 16 bytes and each of its counts 12.
type Vectors struct {
	classes int
	start   []int // vector i has the entries from start[i] to start[i+1]
	class   []int32
	count   []float64
	size    []int64
}

// NewVectors returns an empty set of vectors for the given number of classes.
func NewVectors(classes int) *Vectors { return &Vectors{classes: classes, start: []int{0}} }

// Classes is C, the number of classes.
func (v *Vectors) Classes() int { return v.classes }

// Len is the number of vectors.
func (v *Vectors) Len() int { return len(v.size) }

// Features is m, the number of features: the sum of the sizes.
func (v *Vectors) Features() (m int64) {
	for _, n := range v.size {
		m += n
	}
	return m
}

// Entries returns the classes in which the features of vector i occur, in ascending order, and their counts, all above
// zero. The caller must not change the slices.
func (v *Vectors) Entries(i int) (classes []int32, counts []float64) {
	from, to := v.start[i], v.start[i+1]
	return v.class[from:to], v.count[from:to]
}

// Size returns the number of features with vector i.
func (v *Vectors) Size(i int) int64 { return v.size[i] }

// Add appends a vector: the counts of size features. Classes are numbers from 0 to C-1 in ascending order. Counts of zero
// may be left out. Each count and their sum must be [InRange].
func (v *Vectors) Add(classes []int32, counts []float64, size int64) error {
	if len(classes) != len(counts) || size < 1 {
		return fmt.Errorf("solver: vector %d has %d classes, %d counts and %d features", v.Len(), len(classes), len(counts), size)
	}
	for j, c := range classes {
		if c < 0 || int(c) >= v.classes || j > 0 && c <= classes[j-1] {
			return fmt.Errorf("solver: vector %d has the classes %v; they must ascend and be below %d", v.Len(), classes, v.classes)
		}
		if !InRange(counts[j]) {
			return fmt.Errorf("solver: vector %d has the count %v: %w", v.Len(), counts[j], errRange)
		}
	}
	if !InRange(Sum(counts)) {
		return fmt.Errorf("solver: vector %d has counts that sum to %v: %w", v.Len(), Sum(counts), errRange)
	}
	for j, n := range counts {
		if n > 0 {
			v.class, v.count = append(v.class, classes[j]), append(v.count, n)
		}
	}
	v.start, v.size = append(v.start, len(v.class)), append(v.size, size)
	return nil
}

// Group returns the vectors with equal ones merged. They are sorted by the sum of their counts, descending, then by classes,
// ascending, and by counts, descending.
func (v *Vectors) Group() *Vectors {
	sums := make([]float64, v.Len())
	order := make([]int32, v.Len())
	for i := range order {
		order[i] = int32(i)
		_, counts := v.Entries(i)
		sums[i] = Sum(counts)
	}
	slices.SortFunc(order, func(i, j int32) int {
		return cmp.Or(cmp.Compare(sums[j], sums[i]), v.compare(int(i), int(j)))
	})
	grouped := NewVectors(v.classes)
	for n, i := range order {
		classes, counts := v.Entries(int(i))
		size := v.size[i]
		if n > 0 && v.compare(int(order[n-1]), int(i)) == 0 {
			grouped.size[len(grouped.size)-1] += size
			continue
		}
		grouped.class, grouped.count = append(grouped.class, classes...), append(grouped.count, counts...)
		grouped.start, grouped.size = append(grouped.start, len(grouped.class)), append(grouped.size, size)
	}
	return grouped
}

func (v *Vectors) compare(i, j int) int {
	a, x := v.Entries(i)
	b, y := v.Entries(j)
	return cmp.Or(slices.Compare(a, b), slices.Compare(y, x))
}

// Find returns the index of the vector with the given counts in all classes, or -1. The vectors must be sorted as by Group.
func (v *Vectors) Find(counts []float64) int {
	w := NewVectors(v.classes)
	classes := make([]int32, len(counts))
	for c := range classes {
		classes[c] = int32(c)
	}
	if len(counts) != v.classes || w.Add(classes, counts, 1) != nil {
		return -1
	}
	present, above := w.Entries(0)
	sum := Sum(above)
	i := sort.Search(v.Len(), func(i int) bool {
		classes, counts := v.Entries(i)
		return cmp.Or(cmp.Compare(sum, Sum(counts)), slices.Compare(classes, present), slices.Compare(above, counts)) >= 0
	})
	if i == v.Len() {
		return -1
	}
	if classes, counts := v.Entries(i); !slices.Equal(classes, present) || !slices.Equal(counts, above) {
		return -1
	}
	return i
}

// Sum adds counts in their order, without compensation. Real counts must be added in the same order everywhere, or two
// workers compute different sums for the same feature.
func Sum(counts []float64) (s float64) {
	for _, n := range counts {
		s += n
	}
	return s
}

// sumOfOthers adds the counts of all classes but one.
func sumOfOthers(classes []int32, counts []float64, class int32) (sum float64) {
	for j, c := range classes {
		if c != class {
			sum += counts[j]
		}
	}
	return sum
}

// OneVersusRest returns a function that makes the groups of a class against the sum of all others. A call takes time for the
// counts of the class and for the different sums: features without the class are known by their sum alone.
// Real counts, which cannot be taken from a sum without rounding, are added up again.
func (v *Vectors) OneVersusRest() func(class int32) []Group {
	columns := v.columns()
	sums := make([]float64, v.Len()) // of the vectors
	exact := make([]bool, v.Len())   // a count may be taken from the sum
	t := newGroupTable()
	for i := range sums {
		_, counts := v.Entries(i)
		sums[i], exact[i] = Sum(counts), wholeSum(counts)
		t.add(Group{0, sums[i], v.size[i]})
	}
	all := t.groups() // of all features
	place := make([]int32, v.Len())
	for i, s := range sums {
		place[i] = int32(GroupOf(all, 0, s))
	}
	return func(class int32) []Group {
		t, absent := newGroupTable(), slices.Clone(all)
		for _, e := range columns(class) {
			rest := sums[e.vector] - e.count
			if !exact[e.vector] {
				classes, counts := v.Entries(int(e.vector))
				rest = sumOfOthers(classes, counts, class)
			}
			t.add(Group{e.count, rest, v.size[e.vector]})
			absent[place[e.vector]].Size -= v.size[e.vector]
		}
		for _, g := range absent {
			if g.Size > 0 {
				t.add(g)
			}
		}
		return t.groups()
	}
}

// wholeSum reports whether the counts are integers with an exact sum in a float64.
func wholeSum(counts []float64) bool {
	sum := 0.0
	for _, n := range counts {
		if n != math.Trunc(n) {
			return false
		}
		sum += n
	}
	return sum < 1<<53
}

// OneVersusOne returns a function that makes the groups of one class against another, including the group of features that
// occur in neither.
func (v *Vectors) OneVersusOne() func(positive, negative int32) []Group {
	columns, m := v.columns(), v.Features()
	return func(positive, negative int32) []Group {
		t, absent := newGroupTable(), m
		a, b := columns(positive), columns(negative)
		for len(a) > 0 || len(b) > 0 {
			var g Group
			switch {
			case len(b) == 0 || len(a) > 0 && a[0].vector < b[0].vector:
				g = Group{a[0].count, 0, v.size[a[0].vector]}
				a = a[1:]
			case len(a) == 0 || b[0].vector < a[0].vector:
				g = Group{0, b[0].count, v.size[b[0].vector]}
				b = b[1:]
			default:
				g = Group{a[0].count, b[0].count, v.size[a[0].vector]}
				a, b = a[1:], b[1:]
			}
			t.add(g)
			absent -= g.Size
		}
		if absent > 0 {
			t.add(Group{0, 0, absent})
		}
		return t.groups()
	}
}

// columnEntry is a count of a class, and the vector that has it.
type columnEntry struct {
	vector int32
	count  float64
}

// columns returns the counts of a class, by vector.
func (v *Vectors) columns() func(class int32) []columnEntry {
	start := make([]int, v.classes+1)
	for _, c := range v.class {
		start[c+1]++
	}
	for c := range v.classes {
		start[c+1] += start[c]
	}
	entries, next := make([]columnEntry, len(v.class)), slices.Clone(start)
	for i := range v.Len() {
		classes, counts := v.Entries(i)
		for j, c := range classes {
			entries[next[c]] = columnEntry{int32(i), counts[j]}
			next[c]++
		}
	}
	return func(class int32) []columnEntry { return entries[start[class]:start[class+1]] }
}
