package feature

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// identity is what a table knows a feature by before it compares names.
type identity struct{ key, check uint64 }

func identityOf(name []byte) identity {
	key, check := Hash(name)
	return identity{key, check}
}

// A multiplication by zero forgets the other factor. The hash of format 2 met a zero behind this text, and whatever eight
// bytes followed had one key and one check.
func TestFamilyOfFormat2(t *testing.T) {
	const zero = "vdwxmzdbfzgzymmy92xhr2ng"
	seen := map[identity]string{}
	for i := range 1000 {
		end := fmt.Sprintf("%08d", i)
		if i < 26 {
			end = string(bytes.Repeat([]byte{byte('a' + i)}, 8))
		}
		id := identityOf([]byte(zero + end))
		if other, ok := seen[id]; ok {
			t.Fatalf("%s%s and %s%s have one key and one check", zero, end, zero, other)
		}
		seen[id] = end
	}
}

// inverse is what undoes a multiplication by an odd number.
func inverse(odd uint64) uint64 {
	x := odd
	for range 5 {
		x *= 2 - odd*x
	}
	return x
}

// unmix finds the b for which mix(a, b) is the given key, as somebody would who looks for names that collide.
func unmix(a, key uint64) (b uint64) {
	high, low := bits.Mul64(a^seed, factorA)
	x := (key ^ key>>32) * inverse(factor)
	x ^= high ^ low
	return (x ^ x>>47) * inverse(factorB)
}

// A name of up to 16 bytes can be computed from its key and its check. So no two such names are taken for one.
func TestShortNamesAreExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for n := range Exact + 1 {
		for i := range 2000 {
			name := make([]byte, n)
			for j := range name {
				name[j] = byte(rng.IntN(long))
				if i%2 == 0 {
					name[j] = "\x00\x00ab\x7f\xfe"[rng.IntN(6)]
				}
			}
			key, check := Hash(name)
			if n > 0 && IsLong(check) {
				t.Fatalf("the check of %q is that of a long name", name)
			}
			found := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, check), unmix(check, key))
			if !bytes.Equal(found[:n], name) || len(bytes.TrimRight(found, "\xff")) > n {
				t.Fatalf("%q has the key and the check of %q", name, bytes.TrimRight(found, "\xff"))
			}
		}
	}
}

// A factor of zero, or any other intermediate value, does not cancel the other input. The families are those that an
// attacker would try: blocks with one half that gives a chosen number and any other half, and blocks that are mixed into
// one number.
func TestNothingIsForgotten(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for size := 16; size <= 5*16; size += 16 {
		for at := 0; at < size; at += 16 {
			name := bytes.Repeat([]byte("upon the subject"), 5)[:size]
			x, y := stateBefore(name, at)
			any := rng.Uint64()
			for _, u := range []uint64{0, 1, seed, ^uint64(seed), 1 << 63, ^uint64(0), x, y, unmix(any, 0), unmix(seed, 0), unmix(any, seed), any} {
				for what, block := range map[string]func(r uint64) (a, b uint64){
					"the first half":    func(r uint64) (a, b uint64) { return u, r },
					"the second half":   func(r uint64) (a, b uint64) { return r, u },
					"what a block adds": func(r uint64) (a, b uint64) { return r, unmix(r, u) },
					"and the other way": func(r uint64) (a, b uint64) { return unmix(r, u), r },
				} {
					seen := map[identity]bool{}
					const n = 100
					for i := range uint64(n) {
						a, b := block(any + i*i*0x9e3779b97f4a7c15)
						binary.LittleEndian.PutUint64(name[at:], a^x)
						binary.LittleEndian.PutUint64(name[at+8:], b^y)
						seen[identityOf(name)] = true
					}
					if len(seen) < n {
						t.Fatalf("of %d bytes, %s at %d is %x: %d names have %d keys and checks", size, what, at, u, n, len(seen))
					}
				}
			}
		}
	}
}

// stateBefore is what hashLong mixes the block at a place with.
func stateBefore(name []byte, at int) (x, y uint64) {
	if len(name) <= Exact {
		return 0, 0
	}
	y = uint64(len(name)) * lengths
	for i := 0; i+16 <= at; i += 16 {
		a, b := binary.LittleEndian.Uint64(name[i:])^x, binary.LittleEndian.Uint64(name[i+8:])^y
		x, y = mix(a, b), mix(b, a)
	}
	return x, y
}
