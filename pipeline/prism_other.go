//go:build !linux

package pipeline

// WhoReachesPrism says who can connect to the Prism of this process.
const WhoReachesPrism = "anyone who can connect to this machine"

func openListeners() (map[int]bool, error) { return nil, nil }

// closeToOtherHosts does nothing: only Linux can bind a listening socket to a device.
func closeToOtherHosts(map[int]bool) error { return nil }
