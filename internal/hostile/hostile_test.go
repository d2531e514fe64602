package hostile

import "testing"

var sink []byte

func TestAllocated(t *testing.T) {
	if n := Allocated(func() { sink = make([]byte, 10<<20) }); n < 10<<20 || n > 20<<20 {
		t.Errorf("%d bytes", n)
	}
}
