package pipeline

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// WhoReachesPrism says who can connect to the Prism of this process.
const WhoReachesPrism = "any user of this machine"

// openListeners returns the sockets of this process that listen, and whether on all addresses.
func openListeners() (map[int]bool, error) {
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil, err
	}
	open := map[int]bool{}
	for _, file := range files {
		fd, err := strconv.Atoi(file.Name())
		if err != nil {
			return nil, err
		}
		if listens, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ACCEPTCONN); err != nil || listens == 0 {
			continue // not a socket, or closed since
		}
		address, err := unix.Getsockname(fd)
		if err != nil {
			continue
		}
		switch a := address.(type) {
		case *unix.SockaddrInet4:
			open[fd] = netip.AddrFrom4(a.Addr).IsUnspecified()
		case *unix.SockaddrInet6:
			open[fd] = netip.AddrFrom16(a.Addr).IsUnspecified()
		}
	}
	return open, nil
}

// closeToOtherHosts binds the sockets that listen on all addresses, except those known before, to the loopback device.
func closeToOtherHosts(before map[int]bool) error {
	after, err := openListeners()
	if err != nil {
		return err
	}
	for fd, open := range after {
		if open && !before[fd] {
			err = errors.Join(err, unix.BindToDevice(fd, "lo"))
		}
	}
	if errors.Is(err, unix.EPERM) {
		return fmt.Errorf("%w: this requires Linux 5.7 or root; use --runner=direct, which opens no port", err)
	}
	return err
}
