package kernel

import (
	"math"
	"math/bits"
	"sync/atomic"
)

// Sketch estimates the number of distinct features with a standard error of about 2 %, for the display of progress only. It
// is a HyperLogLog with 4096 registers. The zero value is empty. Several goroutines may share one.
type Sketch struct {
	registers [1 << sketchBits]atomic.Uint32
}

const sketchBits = 12

// Add adds a feature by its key. Only the leading bits of the key may be in use.
func (s *Sketch) Add(key uint64) {
	key = bits.ReverseBytes64(key*0x9e3779b97f4a7c15) * 0x9e3779b97f4a7c15
	r := &s.registers[key>>(64-sketchBits)]
	rank := uint32(bits.LeadingZeros64(key<<sketchBits|1<<(sketchBits-1))) + 1
	for old := r.Load(); rank > old && !r.CompareAndSwap(old, rank); old = r.Load() {
	}
}

// Estimate returns the approximate number of distinct features.
func (s *Sketch) Estimate() int64 {
	const n = 1 << sketchBits
	var inverse float64
	empty := 0
	for i := range s.registers {
		r := s.registers[i].Load()
		inverse += math.Ldexp(1, -int(r))
		if r == 0 {
			empty++
		}
	}
	estimate := 0.7213 / (1 + 1.079/n) * n * n / inverse
	if estimate < 2.5*n && empty > 0 {
		estimate = n * math.Log(float64(n)/float64(empty))
	}
	return int64(estimate)
}
