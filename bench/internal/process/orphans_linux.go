package process

import "golang.org/x/sys/unix"

const rssUnit = 1024 // bytes, of ru_maxrss

// AdoptOrphans makes this process the parent of what its children leave behind, so that it can wait for that too.
func AdoptOrphans() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }
