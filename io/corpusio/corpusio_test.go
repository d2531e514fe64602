package corpusio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	_ "github.com/sparsenb/sparsenb/internal/faulty"
	"github.com/sparsenb/sparsenb/io/fileio"
)

const maxRecord = 1 << 20

type record struct{ label, text string }

type content struct {
	records    []record
	rejections []Rejection
	blank      int64
	spans      []Span
}

// readRange reads one range to its end.
func readRange(t testing.TB, r Range, maxRecord int) (c content, err error) {
	t.Helper()
	reader, err := Open(t.Context(), r, Options{
		Reading: Reading{MaxRecordBytes: maxRecord},
		Reject:  func(r Rejection) { c.rejections = append(c.rejections, r) },
	})
	if err != nil {
		return c, err
	}
	var d Document
	for reader.Next(&d) {
		c.records = append(c.records, record{string(d.Label), string(d.Text)})
	}
	err = reader.Close()
	c.blank = reader.Skipped().Blank
	c.spans = append(c.spans, reader.Span())
	return c, err
}

// readFile reads a file in ranges of a size.
func readFile(t testing.TB, name string, size int64, maxRecord int) (c content, err error) {
	t.Helper()
	files, err := List(t.Context(), []string{name}, Reading{Format: "tsv"})
	if err != nil {
		return c, err
	}
	for _, r := range mustSplit(t, files[0], size) {
		part, err := readRange(t, r, maxRecord)
		if err != nil {
			return c, err
		}
		c.records = append(c.records, part.records...)
		c.rejections = append(c.rejections, part.rejections...)
		c.blank += part.blank
		c.spans = append(c.spans, part.spans...)
	}
	return c, nil
}

// bareReturn is a line that ended in CR alone, and the label of the next.
var bareReturn = regexp.MustCompile("\r[^\r\t]+\t")

// innerMark is the byte-order mark of a file that was joined to one without a newline at its end, and its first label.
var innerMark = regexp.MustCompile("\ufeff[^\t]+\t")

// parse is a simple implementation of the format.
func parse(name string, b []byte, maxRecord int) (c content) {
	offset := 0
	for offset < len(b) {
		line, _, _ := strings.Cut(string(b[offset:]), "\n")
		length := len(line) + 1
		for strings.HasPrefix(line, "\ufeff") {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		line = strings.TrimSuffix(line, "\r")
		label, text, ok := strings.Cut(line, "\t")
		switch {
		case len(line) > maxRecord:
			c.rejections = append(c.rejections, Rejection{name, int64(offset), TooLong})
		case line == "":
			c.blank++
		case !ok:
			c.rejections = append(c.rejections, Rejection{name, int64(offset), NoTab})
		case strings.TrimSpace(label) == "":
			c.rejections = append(c.rejections, Rejection{name, int64(offset), EmptyLabel})
		case strings.Contains(label, "\x00"):
			c.rejections = append(c.rejections, Rejection{name, int64(offset), NulLabel})
		case len(strings.TrimSpace(label)) > MaxLabelBytes:
			c.rejections = append(c.rejections, Rejection{name, int64(offset), LongLabel})
		case bareReturn.MatchString(text):
			c.rejections = append(c.rejections, Rejection{name, int64(offset), BareReturn})
		case innerMark.MatchString(text):
			c.rejections = append(c.rejections, Rejection{name, int64(offset), InnerMark})
		default:
			c.records = append(c.records, record{strings.TrimSpace(label), text})
		}
		offset += length
	}
	return c
}

func same(a, b content) bool {
	return slices.Equal(a.records, b.records) && slices.Equal(a.rejections, b.rejections) && a.blank == b.blank
}

func mustSplit(t testing.TB, f File, size int64) []Range {
	t.Helper()
	ranges, err := Split(t.Context(), f, size, Reading{})
	if err != nil {
		t.Fatal(err)
	}
	return ranges
}

func save(t testing.TB, name string, b []byte) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(name, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

func pack(t testing.TB, how Compression, parts ...[]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	for _, b := range parts { // each part in a separate member
		switch how {
		case Gzip:
			w := gzip.NewWriter(&out)
			if _, err := w.Write(b); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		case Zstd:
			w, err := zstd.NewWriter(&out)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(b); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		case Lz4:
			w := lz4.NewWriter(&out)
			if _, err := w.Write(b); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		case Bzip2, Xz: // the libraries can only decompress them
			cmd := exec.Command(string(how))
			cmd.Stdin = bytes.NewReader(b)
			packed, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			out.Write(packed)
		default:
			out.Write(b)
		}
	}
	return out.Bytes()
}

const mixed = "\xef\xbb\xbfa\tfirst\r\nb\tsecond\tand more\n\n  c \tthird\nno tab here\n\tno label\n \t\n" +
	"long\tzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz\r\nlonger\tzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz\n\r\nlast\twithout newline"

func TestEveryRangeSizeGivesEveryLineOnce(t *testing.T) {
	name := save(t, "in.tsv", []byte(mixed))
	want := parse(name, []byte(mixed), 68)
	if len(want.records) != 5 || len(want.rejections) != 4 || want.blank != 2 {
		t.Fatalf("the test is not what it should be: %+v", want)
	}
	for size := int64(1); size <= int64(len(mixed))+1; size++ {
		got, err := readFile(t, name, size, 68)
		if err != nil || !same(got, want) {
			t.Fatalf("ranges of %d bytes: %+v %+v, %v\nwant %+v %+v", size, got.records, got.rejections, err, want.records, want.rejections)
		}
		checkSpans(t, got.spans, []byte(mixed))
	}
}

func checkSpans(t *testing.T, spans []Span, b []byte) {
	t.Helper()
	whole := spans[0]
	for _, s := range spans[1:] {
		var ok bool
		if whole, ok = Join(whole, s); !ok {
			t.Fatalf("%+v does not follow %+v", s, whole)
		}
	}
	if want := (Span{File: spans[0].File, End: int64(len(b)), CRC: crc32.Checksum(b, castagnoli)}); whole != want {
		t.Errorf("read %+v, want %+v", whole, want)
	}
}

// A byte-order mark at the start of any line is not part of the label: joined files have one each.
func TestMarksWithinAFile(t *testing.T) {
	joined := "\ufeffa\tfirst\nb\tsecond\n\ufeffa\tthird\r\n\ufeff\ufeffb\tfourth\n\ufeff\nno\ufeff tab\na\tan \ufeff in a text\n" +
		"a\tjoined without a newline\ufeffb\tlost\na\tsixth\ufeff\n"
	name := save(t, "in.tsv", []byte(joined))
	want := parse(name, []byte(joined), 68)
	if len(want.records) != 6 || want.records[2] != (record{"a", "third"}) || want.records[3] != (record{"b", "fourth"}) || len(want.rejections) != 2 {
		t.Fatalf("the test is not what it should be: %+v", want)
	}
	for size := int64(1); size <= int64(len(joined))+1; size++ {
		got, err := readFile(t, name, size, 68)
		if err != nil || !same(got, want) {
			t.Fatalf("ranges of %d bytes: %+v, %v\nwant %+v", size, got, err, want)
		}
	}
	for _, how := range []Compression{Gzip, Zstd} {
		name := save(t, "in", pack(t, how, []byte("\ufeffa\tfirst\n"), []byte("\ufeffa\tsecond\n")))
		got, err := readFile(t, name, 16, 68)
		if want := []record{{"a", "first"}, {"a", "second"}}; err != nil || !slices.Equal(got.records, want) {
			t.Errorf("%s: %+v, %v", how, got, err)
		}
	}
}

func TestLongLabels(t *testing.T) {
	most := strings.Repeat("l", MaxLabelBytes)
	text := most + "\tgood\n" + most + "l\tbad\n" + strings.Repeat("l", 1<<17) + "\tbad\n " + most + " \tgood\n"
	name := save(t, "in.tsv", []byte(text))
	got, err := readFile(t, name, 1000, maxRecord)
	if err != nil || !same(got, parse(name, []byte(text), maxRecord)) || len(got.records) != 2 || len(got.rejections) != 2 || got.rejections[1].Reason != LongLabel {
		t.Errorf("%d records, %+v, %v", len(got.records), got.rejections, err)
	}
}

func TestCompressedFilesAreReadWhole(t *testing.T) {
	for _, how := range []Compression{Gzip, Zstd, Bzip2, Xz, Lz4} {
		// Two members, cut in the middle of a line; and a misleading name.
		b := pack(t, how, []byte(mixed[:20]), []byte(mixed[20:]))
		name := save(t, "in.txt", b)
		got, err := readFile(t, name, 16, 68)
		if err != nil || !same(got, parse(name, []byte(mixed), 68)) {
			t.Errorf("%s: %+v, %v", how, got, err)
		}
		checkSpans(t, got.spans, b)
	}
	name := save(t, "in.gz", []byte("a\tplain text under a name that says gzip\n"))
	if got, err := readFile(t, name, 1<<20, maxRecord); err != nil || len(got.records) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// Beam's reader lost most of such a file: it compared offsets in the text with the size of the compressed file.
func TestHighlyCompressedFile(t *testing.T) {
	const line = "Hamilton\tupon the subject\n"
	b := pack(t, Gzip, []byte(strings.Repeat(line, 10_000)))
	if len(b) > 2000 {
		t.Fatalf("the file has %d bytes and should be far smaller than its text", len(b))
	}
	got, err := readFile(t, save(t, "in.gz", b), 100, maxRecord)
	if err != nil || len(got.records) != 10_000 {
		t.Errorf("%d documents, %v; want 10,000", len(got.records), err)
	}
}

func TestEmptyFiles(t *testing.T) {
	for _, how := range []Compression{Plain, Gzip, Zstd, Bzip2, Xz, Lz4} {
		got, err := readFile(t, save(t, "in", pack(t, how, nil)), 10, maxRecord)
		if err != nil || len(got.records)+len(got.rejections) > 0 || got.blank > 0 {
			t.Errorf("%q: %+v, %v", how, got, err)
		}
	}
}

func TestCorruptFilesAreNamedWithTheirPlace(t *testing.T) {
	text := []byte(strings.Repeat("a\tsome words that repeat, and a number: ", 50))
	for i := range text {
		if text[i] == ':' {
			text[i] = byte('0' + i%7)
		}
	}
	for _, how := range []Compression{Gzip, Zstd, Bzip2, Xz, Lz4} {
		whole := pack(t, how, text)
		for what, b := range map[string][]byte{
			"truncated": whole[:len(whole)-5],
			"corrupt":   append(bytes.Clone(whole[:len(whole)/2]), append([]byte{whole[len(whole)/2] ^ 0x10}, whole[len(whole)/2+1:]...)...),
			"trailing":  append(bytes.Clone(whole), "rubbish"...),
		} {
			name := save(t, "in", b)
			_, err := readFile(t, name, 10, maxRecord)
			var corrupt *CorruptError
			if !errors.As(err, &corrupt) || corrupt.File != name || corrupt.Offset <= 0 || corrupt.Offset > int64(len(b)) {
				t.Errorf("%s, %s: %v", how, what, err)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("%s, %s: more than a line: %v", how, what, err)
			}
		}
	}
}

// Bytes that changed in transit are distinguished from corrupt files, even if nothing can be read after them.
func TestBytesThatChangedOnTheWay(t *testing.T) {
	sum := func(b []byte) string { return fileio.Checksum(crc32.Checksum(b, castagnoli)) }
	text := bytes.Repeat([]byte("a\tsome words\n"), 5_000)
	for _, how := range []Compression{Plain, Gzip, Zstd, Bzip2, Xz, Lz4} {
		stored := pack(t, how, text)
		arrived := bytes.Clone(stored)
		arrived[len(arrived)/3] ^= 1
		files, err := List(t.Context(), []string{save(t, "in", arrived)}, Reading{})
		if err != nil {
			t.Fatal(err)
		}
		for crc, want := range map[string]string{
			sum(stored):  fmt.Sprintf("the bytes that were read have CRC-32C %s, those in the store %s", sum(arrived), sum(stored)),
			sum(arrived): "", "": "",
		} {
			files[0].CRC32C = crc
			got, err := readRange(t, Range{files[0], 0, int64(len(arrived))}, maxRecord)
			var corrupt *CorruptError
			if errors.As(err, &corrupt) != (how != Plain) {
				t.Errorf("%q: %v", how, err)
			}
			if err := got.spans[0].Check(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%q, stored with %q: %v, want %q", how, crc, err, want)
			}
		}
	}
}

func TestUTF16IsRefused(t *testing.T) {
	for _, mark := range []string{"\xff\xfe", "\xfe\xff"} {
		_, err := readFile(t, save(t, "in", []byte(mark+"a\x00\t\x00b\x00\n\x00")), 4, maxRecord)
		var corrupt *CorruptError
		if !errors.As(err, &corrupt) || !strings.Contains(err.Error(), "iconv") {
			t.Errorf("%v", err)
		}
	}
}

func TestLongLinesTakeConstantMemory(t *testing.T) {
	const size = 64 << 20
	name := filepath.Join(t.TempDir(), "in.tsv")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	// A sparse file: it takes no space.
	if _, err := f.WriteString("a\tfirst\nb\t"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("\nc\tlast\n"), size); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := readFile(t, name, size*2, 1<<20)
	runtime.ReadMemStats(&after)
	if err != nil || len(got.records) != 2 || len(got.rejections) != 1 || got.rejections[0] != (Rejection{name, 8, TooLong}) {
		t.Errorf("%+v, %v", got, err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 8<<20 {
		t.Errorf("a line of %d MiB took %d MiB", size>>20, took>>20)
	}
}

func TestAFileThatChangesIsNoticed(t *testing.T) {
	for want, change := range map[string]func(name string) error{
		"the file was truncated": func(name string) error { return os.Truncate(name, 3) },
		"changed": func(name string) error {
			return os.WriteFile(name, []byte("b\tother words\nand more\tof them\n"), 0o666)
		},
	} {
		name := save(t, "in.tsv", []byte("a\tsome words\n"))
		files, err := List(t.Context(), []string{name}, Reading{})
		if err != nil {
			t.Fatal(err)
		}
		if err := change(name); err != nil {
			t.Fatal(err)
		}
		_, err = readRange(t, mustSplit(t, files[0], 100)[0], maxRecord)
		var corrupt *CorruptError
		if err == nil || errors.As(err, &corrupt) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestAnErrorOfTheStorageIsNoCorruption(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1)) // text that hardly compresses
	text := make([]byte, 300_000)
	for i := range text {
		text[i] = byte(' ' + rng.IntN(96))
		if i%50 == 0 {
			text[i] = '\n'
		}
	}
	for _, how := range []Compression{Plain, Gzip, Zstd, Bzip2, Xz, Lz4} {
		packed := pack(t, how, text)
		for len(packed) < 400_000 { // enough members to reach the fault
			packed = append(packed, packed...)
		}
		_, err := readFile(t, "faulty://read=300000"+save(t, "in", packed), 1<<30, maxRecord)
		var corrupt *CorruptError
		if err == nil || errors.As(err, &corrupt) || !strings.Contains(err.Error(), "input/output error") {
			t.Errorf("%q: %v", how, err)
		}
	}
}

func TestList(t *testing.T) {
	dir := t.TempDir()
	for name, b := range map[string][]byte{"b.tsv": nil, "a.tsv": pack(t, Gzip, nil), "c.tsv": pack(t, Zstd, nil)} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	files, err := List(t.Context(), []string{dir + "/c.*", dir + "/*.tsv", dir + "/b.tsv"}, Reading{})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, f := range files {
		got += filepath.Base(f.Name) + ":" + string(f.Compression) + " "
	}
	if got != "a.tsv:gzip b.tsv: c.tsv:zstd " {
		t.Error(got)
	}
	if _, err := List(t.Context(), []string{dir + "/*.bz2"}, Reading{}); !errors.Is(err, ErrNoMatch) {
		t.Error(err)
	}
}

func TestCombineIsTheChecksumOfBoth(t *testing.T) {
	b := []byte(strings.Repeat("any bytes will do", 1000))
	for _, n := range []int{0, 1, 7, 4096, len(b)} {
		a, c := crc32.Checksum(b[:n], castagnoli), crc32.Checksum(b[n:], castagnoli)
		if got, want := combine(a, c, int64(len(b)-n)), crc32.Checksum(b, castagnoli); got != want {
			t.Errorf("cut at %d: %08x, want %08x", n, got, want)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(mixed), uint16(7))
	f.Add([]byte("a\tb\n"), uint16(1))
	f.Fuzz(func(t *testing.T, b []byte, size uint16) {
		name := filepath.Join(t.TempDir(), "in")
		if err := os.WriteFile(name, b, 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := readFile(t, name, int64(size)+1, 68)
		if err != nil {
			var corrupt *CorruptError
			var layout *LayoutError // of a web archive
			if !errors.As(err, &corrupt) && !errors.As(err, &layout) {
				t.Error(err)
			}
			return
		}
		if compressionOf(b) != Plain {
			return
		}
		if want := parse(name, b, 68); !same(got, want) {
			t.Errorf("%q in ranges of %d:\n got %+v\nwant %+v", b, int(size)+1, got, want)
		}
	})
}

func BenchmarkReader(b *testing.B) {
	line := "1\t" + strings.Repeat("some words of a document ", 50) + "\n"
	text := []byte(strings.Repeat(line, 10_000))
	for _, how := range []Compression{Plain, Gzip, Zstd} {
		b.Run(fmt.Sprintf("%q", how), func(b *testing.B) {
			files, err := List(context.Background(), []string{save(b, "in", pack(b, how, text))}, Reading{})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				r, err := Open(context.Background(), mustSplit(b, files[0], 1<<40)[0], Options{Reading: Reading{MaxRecordBytes: 8 << 20}})
				if err != nil {
					b.Fatal(err)
				}
				var d Document
				for r.Next(&d) {
				}
				if err := r.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
