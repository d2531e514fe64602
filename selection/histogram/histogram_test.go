package histogram

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestPiecesArePackedAndUnpacked(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	numbers := []float64{0, 1, 2, 3, 127, 128, 1e6, 1 << 53, 1<<53 + 2, 1e300, 0.5, 1e-300, math.Pi}
	const most = 3
	h := New()
	want := map[string]int64{}
	for range 5000 {
		var classes []int32
		var counts []float64
		for c := range most {
			if rng.IntN(2) == 0 {
				classes = append(classes, int32(c))
				counts = append(counts, numbers[rng.IntN(len(numbers))]+float64(rng.IntN(50)))
			}
		}
		h.Add(classes, counts)
		want[fmt.Sprint(classes, counts)]++
	}
	got := map[string]int64{}
	pieces := 0
	h.Pack(2000, func(b []byte) {
		pieces++
		if len(b) > 2000 {
			t.Errorf("a piece of %d bytes", len(b))
		}
		err := Unpack(b, most, func(e Entry) error {
			got[fmt.Sprint(e.Classes, e.Counts)] += e.Size
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := 1; i < len(b); i++ {
			// Cut anywhere, it is an error or a shorter list, and never a panic.
			_ = Unpack(b[:i], most, func(Entry) error { return nil })
		}
	})
	if !maps.Equal(got, want) || pieces < 2 {
		t.Errorf("%d entries in %d pieces, want %d", len(got), pieces, len(want))
	}
	New().Pack(100, func([]byte) { t.Error("a piece without entries") })
}

// A piece does not grow with the labels, nor with the number of classes that are not in it.
func TestPiecesHaveNumbersForClasses(t *testing.T) {
	h := New()
	for i := range 1000 {
		h.Add([]int32{int32(i % 7), 49_999}, []float64{float64(i), 1})
	}
	h.Pack(1<<20, func(b []byte) {
		if len(b) > 10_000 {
			t.Errorf("1,000 entries of two classes have %d bytes", len(b))
		}
		if err := Unpack(b, 50_000, func(Entry) error { return nil }); err != nil {
			t.Error(err)
		}
		if err := Unpack(b, 49_999, func(Entry) error { return nil }); err == nil {
			t.Error("a class that is not in the list passes")
		}
	})
}

func TestUnpackPassesErrorsOn(t *testing.T) {
	h := New()
	h.Add([]int32{0}, []float64{1})
	wrong := errors.New("wrong")
	h.Pack(100, func(b []byte) {
		if err := Unpack(b, 1, func(Entry) error { return wrong }); !errors.Is(err, wrong) {
			t.Errorf("the error is %v", err)
		}
	})
}

func FuzzUnpack(f *testing.F) {
	h := New()
	h.Add([]int32{0, 1}, []float64{3, 0.5})
	h.Add(nil, nil)
	h.Pack(1000, func(b []byte) { f.Add(b) })
	f.Fuzz(func(t *testing.T, b []byte) {
		again := New()
		var entries []string
		err := Unpack(b, 2, func(e Entry) error {
			again.Add(e.Classes, e.Counts)
			entries = append(entries, fmt.Sprint(e.Classes, e.Counts))
			return nil
		})
		if err != nil {
			return
		}
		var got []string
		again.Pack(math.MaxInt, func(b []byte) {
			err := Unpack(b, 2, func(e Entry) error {
				for range e.Size {
					got = append(got, fmt.Sprint(e.Classes, e.Counts))
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		slices.Sort(entries)
		slices.Sort(got)
		if !slices.Equal(got, entries) {
			t.Errorf("%v became %v", entries, got)
		}
	})
}
