package corpusio

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// warcRecord returns a record as Common Crawl writes it.
func warcRecord(kind, contentType, block string, more ...string) []byte {
	fields := fmt.Sprintf("WARC-Type: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n", kind, contentType, len(block))
	return []byte("WARC/1.0\r\n" + fields + strings.Join(more, "") + "\r\n" + block + "\r\n\r\n")
}

func page(head, body string) []byte {
	return warcRecord("response", "application/http; msgtype=response", "HTTP/1.1 200 OK\r\n"+head+"\r\n"+body, "WARC-Target-URI: http://example.com/\r\n")
}

type crawl struct {
	texts   []string
	rejects []Reason
	other   int64
}

// readCrawl reads a file whose label is given.
func readCrawl(t testing.TB, b []byte, maxRecord int) (c crawl, err error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(name, b, 0o666); err != nil {
		t.Fatal(err)
	}
	files, err := ListLabeled(t.Context(), []Pattern{{Glob: name, Label: "crawl"}}, Reading{})
	if err != nil {
		return c, err
	}
	files[0].Label = "label"
	ranges := mustSplit(t, files[0], 10)
	if len(ranges) == 0 {
		return c, nil
	}
	r, err := Open(t.Context(), ranges[0], Options{
		Reading: Reading{MaxRecordBytes: maxRecord},
		Reject:  func(r Rejection) { c.rejects = append(c.rejects, r.Reason) },
	})
	if err != nil {
		return c, err
	}
	var d Document
	for r.Next(&d) {
		if string(d.Label) != "label" || len(d.Text) > maxRecord {
			t.Errorf("%d bytes of text, label %q", len(d.Text), d.Label)
		}
		c.texts = append(c.texts, strings.Join(strings.Fields(string(d.Text)), " "))
	}
	err = r.Close()
	c.other = r.Skipped().Records
	return c, err
}

var (
	info = warcRecord("warcinfo", "application/warc-fields", "software: a crawler\r\n")
	wet  = slices.Concat(info, warcRecord("conversion", "text/plain", "The first page\nof two"), warcRecord("conversion", "text/plain", "WARC/1.0 is\r\n\r\na format"))
)

func TestWETInEveryCompression(t *testing.T) {
	for _, how := range []Compression{Plain, Gzip, Zstd, Bzip2, Xz, Lz4} {
		b := pack(t, how, wet[:len(info)], wet[len(info):])
		got, err := readCrawl(t, b, maxRecord)
		if err != nil || !slices.Equal(got.texts, []string{"The first page of two", "WARC/1.0 is a format"}) || got.other != 1 || len(got.rejects) > 0 {
			t.Errorf("%q: %+v, %v", how, got, err)
		}
	}
}

func TestPages(t *testing.T) {
	const textHTML = "Content-Type: text/html; charset=utf-8\r\n"
	zipped := string(pack(t, Gzip, []byte("<p>zipped</p>")))
	chunked := func(body string) string { return fmt.Sprintf("%x;x=y\r\n%s\r\n0\r\n\r\n", len(body), body) }
	for name, test := range map[string]struct {
		record []byte
		want   string // "-": another record; or a Reason
	}{
		"html":                     {page(textHTML, "<title>A &amp; B</title><p>one<b>word</b><br>two<script>var x = '<p>';</script>"), "A & B oneword two"},
		"hidden":                   {page(textHTML, "a<style>b{}</style><noscript>c<p>d</noscript><template>e<template>f</template>g</template><!-- h -->i"), "a i"},
		"attributes":               {page(textHTML, `<a href="x" title="not > this">text</a><img alt="nor this">`), "text"},
		"cells":                    {page(textHTML, "<td>one<td>two<li>three<div>four"), "one two three four"},
		"plain":                    {page("Content-Type: text/plain\r\n", "a <b> c"), "a <b> c"},
		"chunked":                  {page(textHTML+"Transfer-Encoding: chunked\r\n", chunked("<p>text")), "text"},
		"chunked, decoded":         {page(textHTML+"Transfer-Encoding: chunked\r\n", "<p>text"), "text"},
		"gzip":                     {page(textHTML+"Content-Encoding: gzip\r\n", zipped), "zipped"},
		"gzip, decoded":            {page(textHTML+"Content-Encoding: gzip\r\n", "<p>text"), "text"},
		"chunked gzip":             {page(textHTML+"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", chunked(zipped)), "zipped"},
		"gzip, damaged":            {page(textHTML+"Content-Encoding: gzip\r\n", zipped[:20]), string(BadHTTP)},
		"unknown encoding":         {page(textHTML+"Content-Encoding: compress\r\n", "x"), string(BadHTTP)},
		"latin 1":                  {page("Content-Type: text/html; charset=iso-8859-1\r\n", "caf\xe9"), "café"},
		"meta":                     {page("Content-Type: text/html\r\n", `<meta charset="windows-1251">`+"\xcc\xee\xf1\xea\xe2\xe0"), "Москва"},
		"undeclared UTF-8":         {page("Content-Type: text/html\r\n", strings.Repeat(" ", 1200)+"café"), "café"},
		"undeclared latin":         {page("Content-Type: text/html\r\n", "caf\xe9"), "café"},
		"UTF-16":                   {page("Content-Type: text/html\r\n", "\xff\xfea\x00b\x00"), "ab"},
		"bare newlines":            {warcRecord("response", "application/http", "HTTP/1.0 200 OK\nContent-Type: text/html\n\n<p>text"), "text"},
		"a line of no field":       {page("nonsense\r\n"+textHTML, "text"), "text"},
		"folded":                   {page("Content-Type: text/html;\r\n charset=iso-8859-1\r\n", "caf\xe9"), "café"},
		"folded often":             {page(textHTML+"A: b\r\n"+strings.Repeat(" c\n", 300), "text"), "text"},
		"bad parameter":            {page("Content-Type: text/html; charset\r\n", "text"), "text"},
		"image":                    {page("Content-Type: image/png\r\n", "\x89PNG"), "-"},
		"large image":              {page("Content-Type: image/png\r\n", strings.Repeat("x", 2000)), "-"},
		"large page":               {page(textHTML, strings.Repeat("x", 2000)), string(TooLong)},
		"unpacks to much":          {page(textHTML+"Content-Encoding: gzip\r\n", string(pack(t, Gzip, make([]byte, 1<<20)))), string(TooLong)},
		"not found":                {bytes.Replace(page(textHTML, "text"), []byte("200 OK"), []byte("404 NO"), 1), "-"},
		"no type":                  {page("", "text"), "-"},
		"DNS":                      {warcRecord("response", "text/dns", "20260101000000\r\nexample.com. 1.2.3.4"), "-"},
		"request":                  {warcRecord("request", "application/http; msgtype=request", "GET / HTTP/1.1\r\n\r\n"), "-"},
		"no HTTP":                  {warcRecord("response", "application/http", "hello"), string(BadHTTP)},
		"empty response":           {warcRecord("response", "application/http", ""), string(BadHTTP)},
		"identified":               {warcRecord("response", "application/http", "HTTP/1.1 200 OK\r\nA: b\r\n\r\ntext", "WARC-Identified-Payload-Type: text/html\r\n"), "text"},
		"truncated by the crawler": {warcRecord("response", "application/http", "HTTP/1.1 200 OK\r\n"+textHTML+"Transfer-Encoding: chunked\r\n\r\nff\r\ntext", "WARC-Truncated: length\r\n"), "text"},
	} {
		got, err := readCrawl(t, slices.Concat(info, test.record, page(textHTML, "the next")), 1500)
		var want crawl
		switch want.other = 1; {
		case test.want == "-":
			want.other++
		case strings.Contains(string(TooLong+BadHTTP), test.want):
			want.rejects = []Reason{Reason(test.want)}
		default:
			want.texts = []string{test.want}
		}
		want.texts = append(want.texts, "the next")
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, want)
		}
	}
}

// After a malformed record the reading goes on with the next.
func TestMalformedRecords(t *testing.T) {
	good := warcRecord("conversion", "text/plain", "good")
	for name, bad := range map[string]string{
		"no length":       "WARC/1.0\r\nWARC-Type: conversion\r\n\r\n",
		"negative length": "WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: -5\r\n\r\n",
		"huge length":     "WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: 99999999999999999999\r\n\r\n",
		"no field":        "WARC/1.0\r\nWARC-Type: conversion\r\nnonsense\r\nContent-Length: 4\r\n\r\ntext\r\n",
		"rubbish":         "some\r\nlines\r\n\r\nof text\r\n",
		"long line":       "WARC/1.0\r\nX: " + strings.Repeat("x", 600_000) + "\r\n\r\n",
		"long header":     "WARC/1.0\r\n" + strings.Repeat("X: x\r\n", 100_000) + "\r\n",
	} {
		got, err := readCrawl(t, slices.Concat(good, []byte(bad), good), 100)
		if err != nil || !slices.Equal(got.texts, []string{"good", "good"}) || len(got.rejects) == 0 || len(got.rejects) > 2 || got.rejects[0] != BadWARC {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	long := warcRecord("conversion", "text/plain", strings.Repeat("x", 101))
	if got, err := readCrawl(t, slices.Concat(long, good), 100); err != nil || len(got.texts) != 1 || !slices.Equal(got.rejects, []Reason{TooLong}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestTruncatedArchive(t *testing.T) {
	last := warcRecord("conversion", "text/plain", "some text")
	whole := slices.Concat(wet, last)
	for n := len(wet) + len("WARC/"); n < len(whole)-len("\r\n\r\n"); n++ {
		_, err := readCrawl(t, whole[:n], maxRecord)
		var corrupt *CorruptError
		if !errors.As(err, &corrupt) || corrupt.Offset != int64(n) || !strings.HasSuffix(err.Error(), "the file ends within a WARC record; it is truncated") {
			t.Errorf("%d of %d bytes: %v", n, len(whole), err)
		}
	}
	packed := pack(t, Gzip, whole)
	packed[len(packed)-8] ^= 1 // the checksum
	if _, err := readCrawl(t, packed, maxRecord); err == nil {
		t.Error("a damaged archive is read")
	}
}

func TestArchivesAreDetected(t *testing.T) {
	response := page("Content-Type: text/html\r\n", "text")
	for want, b := range map[string][]byte{"wet": wet, "warc": slices.Concat(info, response, wet)} {
		files, err := List(t.Context(), []string{save(t, "in", b)}, Reading{LabelFrom: FromFolder})
		if err != nil || files[0].Format != want {
			t.Errorf("%+v, %v; want %s", files, err, want)
		}
	}
	var layout *LayoutError
	if _, err := List(t.Context(), []string{save(t, "in", wet)}, Reading{}); !errors.As(err, &layout) || !strings.Contains(err.Error(), "--class=LABEL=GLOB") {
		t.Errorf("without labels: %v", err)
	}
	if _, err := List(t.Context(), []string{save(t, "in", []byte("a\tb\n"))}, Reading{Format: "wet", LabelFrom: FromFolder}); !errors.As(err, &layout) {
		t.Errorf("lines: %v", err)
	}
}

func BenchmarkArchive(b *testing.B) {
	paragraph := "<p class=\"x\">" + strings.Repeat("some <b>words</b> of a document &amp; more ", 20) + "</p>\n"
	for kind, record := range map[string][]byte{
		"warc": page("Content-Type: text/html; charset=utf-8\r\n", strings.Repeat(paragraph, 50)),
		"wet":  warcRecord("conversion", "text/plain", strings.Repeat("some words of a document ", 1000)),
	} {
		b.Run(kind, func(b *testing.B) {
			archive := bytes.Repeat(record, 1000)
			files, err := ListLabeled(b.Context(), []Pattern{{Glob: save(b, "in", archive), Label: "crawl"}}, Reading{})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(archive)))
			for b.Loop() {
				if err := drain(b.Context(), files[0], Reading{MaxRecordBytes: 8 << 20}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// FuzzWARC checks that any bytes give documents, rejections or a CorruptError, and that nothing depends on the compression.
func FuzzWARC(f *testing.F) {
	f.Add(wet)
	f.Add(slices.Concat(info, page("Content-Type: text/html\r\nTransfer-Encoding: chunked\r\n", "4\r\n<p>a\r\n0\r\n\r\n"), []byte("WARC/1.0\r\n\r\n")))
	f.Add(page("Content-Type: text/html\r\nContent-Encoding: br\r\n", "\x0b\x02\x80<p>ab\x03"))
	f.Add(page("Content-Type: text/html; charset=utf-16\r\n", "a\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		b = append([]byte("WARC/"), bytes.TrimPrefix(b, []byte("WARC/"))...)
		got, err := readCrawl(t, b, 1000)
		var corrupt *CorruptError
		if err != nil && !errors.As(err, &corrupt) {
			t.Fatal(err)
		}
		again, e := readCrawl(t, pack(t, Lz4, b), 1000)
		if fmt.Sprint(got) != fmt.Sprint(again) || (err == nil) != (e == nil) {
			t.Errorf("plain: %+v, %v; compressed: %+v, %v", got, err, again, e)
		}
	})
}

// FuzzDecompressors checks that any bytes behind a magic number give an end or a CorruptError.
func FuzzDecompressors(f *testing.F) {
	for _, how := range []Compression{Gzip, Zstd, Bzip2, Xz, Lz4} {
		f.Add(pack(f, how, []byte("a\tsome words\nb\tother words\n")))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if compressionOf(b[:min(len(b), 16)]) == Plain {
			return
		}
		var corrupt *CorruptError
		var layout *LayoutError
		if _, err := readFile(t, save(t, "in", b), 1<<20, 100); err != nil && !errors.As(err, &corrupt) && !errors.As(err, &layout) {
			t.Error(err)
		}
	})
}
