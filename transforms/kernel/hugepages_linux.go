package kernel

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// adviseHugePages asks for large pages for memory that will be used in random order. With pages of 4 KB, a large table spends
// most of its time in page faults and address translation.
func adviseHugePages(b []byte) {
	const page = 2 << 20
	if len(b) < 2*page {
		return
	}
	skip := int((page - uintptr(unsafe.Pointer(&b[0]))%page) % page)
	b = b[skip : (len(b)-skip)/page*page+skip]
	_ = unix.Madvise(b, unix.MADV_HUGEPAGE) // only a hint: an error makes it slower
}
