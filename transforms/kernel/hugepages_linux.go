package kernel

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// adviseHugePages asks for large pages behind a table that is about to be filled at random. With pages of 4 KB most of
// the time of a large table goes into page faults and address translation.
func adviseHugePages(entries []entry) {
	const page = 2 << 20
	size := len(entries) * entryBytes
	if size < 2*page {
		return
	}
	start := uintptr(unsafe.Pointer(&entries[0]))
	skip := (page - start%page) % page
	b := unsafe.Slice((*byte)(unsafe.Pointer(&entries[0])), size)
	b = b[skip : (uintptr(size)-skip)/page*page+skip]
	_ = unix.Madvise(b, unix.MADV_HUGEPAGE) // a hint: without it the table works as well, only slower
}
