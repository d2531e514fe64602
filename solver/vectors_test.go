package solver

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sparsenb/sparsenb/solver/internal/solvertest"
)

// randomVectors draws features of C classes, dense and as vectors.
func randomVectors(rng *rand.Rand, classes, m int) (dense [][]float64, v *Vectors) {
	v = NewVectors(classes)
	for range m {
		row := make([]float64, classes)
		var present []int32
		var counts []float64
		for c := range row {
			if rng.IntN(3) == 0 {
				row[c] = float64(rng.IntN(4)) / float64(1+rng.IntN(2))
			}
			if row[c] > 0 || rng.IntN(4) == 0 { // zeros may be given
				present, counts = append(present, int32(c)), append(counts, row[c])
			}
		}
		dense = append(dense, row)
		if err := v.Add(present, counts, 1); err != nil {
			panic(err)
		}
	}
	return dense, v
}

// The groups of every problem are those of the dense counts.
func TestVectorsAgreeWithDenseCounts(t *testing.T) {
	t.Parallel()
	rng := solvertest.Random(8)
	for range solvertest.Count(300) {
		classes := 1 + rng.IntN(6)
		dense, v := randomVectors(rng, classes, 1+rng.IntN(40))
		grouped := v.Group()
		if grouped.Features() != int64(len(dense)) {
			t.Fatalf("%d features, want %d", grouped.Features(), len(dense))
		}
		for _, v := range []*Vectors{v, grouped} {
			rest, one := v.OneVersusRest(), v.OneVersusOne()
			for c := range classes {
				check(t, rest(int32(c)), dense, func(row []float64) (float64, float64) {
					var others float64
					for e, n := range row {
						if e != c {
							others += n
						}
					}
					return row[c], others
				})
				for e := range classes {
					if e != c {
						check(t, one(int32(c), int32(e)), dense, func(row []float64) (float64, float64) { return row[c], row[e] })
					}
				}
			}
		}
	}
}

func check(t *testing.T, got []Group, dense [][]float64, sides func(row []float64) (float64, float64)) {
	t.Helper()
	var positive, negative []float64
	for _, row := range dense {
		a, b := sides(row)
		positive, negative = append(positive, a), append(negative, b)
	}
	want, err := GroupFeatures(positive, negative)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("groups %v of %v, want %v", got, dense, want)
	}
}

// Equal vectors become one, and the order in which they come does not matter.
func TestGroupedVectorsHaveOneOrder(t *testing.T) {
	t.Parallel()
	rng := solvertest.Random(9)
	_, v := randomVectors(rng, 3, 200)
	want := v.Group()
	for range 20 {
		shuffled := NewVectors(3)
		for _, i := range rng.Perm(v.Len()) {
			classes, counts := v.Entries(i)
			if err := shuffled.Add(classes, counts, v.Size(i)); err != nil {
				t.Fatal(err)
			}
		}
		got := shuffled.Group()
		if !slices.Equal(got.class, want.class) || !slices.Equal(got.count, want.count) || !slices.Equal(got.size, want.size) {
			t.Fatal("the order of the vectors shows")
		}
	}
	for i := range want.Len() - 1 {
		if want.compare(i, i+1) == 0 {
			t.Errorf("vectors %d and %d are equal", i, i+1)
		}
	}
}

func TestVectorsRefuseWhatIsNone(t *testing.T) {
	t.Parallel()
	for _, wrong := range []struct {
		classes []int32
		counts  []float64
		size    int64
	}{
		{[]int32{0, 1}, []float64{1}, 1}, {[]int32{1, 0}, []float64{1, 1}, 1}, {[]int32{3}, []float64{1}, 1},
		{[]int32{-1}, []float64{1}, 1}, {[]int32{0}, []float64{-1}, 1}, {[]int32{0}, []float64{1}, 0}, {[]int32{2, 2}, []float64{1, 1}, 1},
		{[]int32{1}, []float64{1e101}, 1},
	} {
		if err := NewVectors(3).Add(wrong.classes, wrong.counts, wrong.size); err == nil {
			t.Errorf("%v is taken", wrong)
		}
	}
}

func TestVectorsHaveNoZeros(t *testing.T) {
	t.Parallel()
	v := NewVectors(4)
	for _, f := range [][]float64{{0, 2, 0, 1}, {0, 0, 0, 0}} {
		if err := v.Add([]int32{0, 1, 2, 3}, f, 3); err != nil {
			t.Fatal(err)
		}
	}
	if classes, counts := v.Entries(0); !slices.Equal(classes, []int32{1, 3}) || !slices.Equal(counts, []float64{2, 1}) || v.Size(0) != 3 {
		t.Errorf("the first vector is %v %v of %d features", classes, counts, v.Size(0))
	}
	if classes, counts := v.Entries(1); len(classes) != 0 || len(counts) != 0 || v.Size(1) != 3 {
		t.Errorf("the second vector is %v %v of %d features", classes, counts, v.Size(1))
	}
}
