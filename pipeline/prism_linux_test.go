package pipeline

import (
	"testing"

	"golang.org/x/sys/unix"
)

// Prism's job server, which has no authentication, is bound to the loopback device, out of reach of other hosts.
func TestPrismIsClosedToOtherHosts(t *testing.T) {
	before, err := openListeners()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := startPrism(t.Context()); err != nil {
		t.Fatal(err)
	}
	after, err := openListeners()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for fd, open := range after {
		if !open || before[fd] {
			continue
		}
		found++
		device, err := unix.GetsockoptString(fd, unix.SOL_SOCKET, unix.SO_BINDTODEVICE)
		if err != nil || device != "lo" {
			t.Errorf("a socket listens on all addresses and the device %q, %v, want lo", device, err)
		}
	}
	if found != 1 {
		t.Errorf("Prism has %d sockets that listen on all addresses, want the one of its job server", found)
	}
}
