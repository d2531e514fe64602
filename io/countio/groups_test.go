package countio

import (
	"fmt"
	"testing"
)

// Long names with equal keys and checks are separate features.
func TestNamesDecideInGroups(t *testing.T) {
	g := newGroups(false)
	one := identity{1, 0x12ff}
	for i := range 300 {
		name := fmt.Sprint("a name of more than sixteen bytes, number ", i%100)
		if place := g.place(one, name); place != uint32(i%100) || g.name(int(place)) != name {
			t.Fatalf("%s is feature %d, called %s", name, place, g.name(int(place)))
		}
	}
}
