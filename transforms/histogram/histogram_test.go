package histogram

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestPiecesArePackedAndUnpacked(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	numbers := []float64{0, 1, 2, 3, 127, 128, 1e6, 1 << 53, 1<<53 + 2, 1e300, 0.5, 1e-300, math.Pi}
	p := New([]string{"Hamilton", ""})
	for range 5000 {
		p.Add([2]float64{numbers[rng.IntN(len(numbers))] + float64(rng.IntN(50)), numbers[rng.IntN(len(numbers))]})
	}
	got := map[[2]float64]int64{}
	pieces := 0
	p.Pack(2000, func(b []byte) {
		pieces++
		if len(b) > 2000 {
			t.Errorf("a piece of %d bytes", len(b))
		}
		err := Unpack(b, func(labels []string, counts [2]float64, size int64) {
			if !slices.Equal(labels, p.labels) {
				t.Errorf("labels %q", labels)
			}
			got[counts] += size
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := 1; i < len(b); i++ {
			// Cut anywhere, it is an error or a shorter list, and never a panic.
			_ = Unpack(b[:i], func([]string, [2]float64, int64) {})
		}
	})
	if !maps.Equal(got, p.sizes) || pieces < 2 {
		t.Errorf("%d pairs in %d pieces, want %d", len(got), pieces, len(p.sizes))
	}
	New([]string{"a"}).Pack(100, func([]byte) { t.Error("a piece without pairs") })
}

func FuzzUnpack(f *testing.F) {
	p := New([]string{"a", "b"})
	p.Add([2]float64{3, 0.5})
	p.Pack(1000, func(b []byte) { f.Add(b) })
	f.Fuzz(func(t *testing.T, b []byte) {
		q := &Histogram{sizes: map[[2]float64]int64{}}
		err := Unpack(b, func(labels []string, counts [2]float64, size int64) {
			q.labels = labels
			q.sizes[counts] = size & math.MaxInt64
		})
		for counts := range q.sizes {
			if counts != counts { // no count is NaN, which would not be equal to itself
				return
			}
		}
		if err != nil || len(q.sizes) == 0 {
			return
		}
		again := map[[2]float64]int64{}
		q.Pack(1<<20, func(b []byte) {
			if err := Unpack(b, func(_ []string, counts [2]float64, size int64) { again[counts] = size }); err != nil {
				t.Error(err)
			}
		})
		if !maps.Equal(again, q.sizes) {
			t.Errorf("%v became %v", q.sizes, again)
		}
	})
}
