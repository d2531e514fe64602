package kernel

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// adviseHugePages asks for large pages behind memory that is about to be used at random. With pages of 4 KB most of the
// time of a large table goes into page faults and address translation.
func adviseHugePages(b []byte) {
	const page = 2 << 20
	if len(b) < 2*page {
		return
	}
	skip := int((page - uintptr(unsafe.Pointer(&b[0]))%page) % page)
	b = b[skip : (len(b)-skip)/page*page+skip]
	_ = unix.Madvise(b, unix.MADV_HUGEPAGE) // a hint: without it all works as well, only slower
}
