package corpusio

import (
	"bytes"
	"compress/flate"
	"errors"
	"io"
	"mime"
	"net/http/httputil"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
)

// response is the head of an HTTP response.
type response struct {
	status      string
	fields      map[string]string
	body        int    // where the body starts
	contentType string // of the body
	media       string // the same without parameters
}

// parseResponse parses the head of a response, from the start of its bytes.
func parseResponse(b []byte) (r response, ok bool) {
	end := 0 // of the header: an empty line, whether lines end in \n or \r\n
	for r.body == 0 {
		i := bytes.IndexByte(b[end:], '\n')
		if i < 0 {
			return r, false
		}
		if len(bytes.TrimRight(b[end:end+i], "\r")) == 0 {
			r.body = end + i + 1
		} else {
			end += i + 1
		}
	}
	line, _, _ := bytes.Cut(b, []byte{'\n'})
	words := strings.Fields(string(line))
	if len(words) < 2 || !strings.HasPrefix(words[0], "HTTP/") {
		return r, false
	}
	r.status = words[1]
	r.fields, _ = parseFields(b[:end]) // servers send lines that are no fields, and browsers ignore them
	return r, true
}

// isPage reports whether this is the text of a page, and not an image or an error. identified is the type that the
// crawler found, for a response without one.
func (r *response) isPage(identified string) bool {
	if r.contentType = r.fields["content-type"]; r.contentType == "" {
		r.contentType = identified
	}
	r.media, _, _ = mime.ParseMediaType(r.contentType)
	if r.media == "" { // a malformed parameter
		media, _, _ := strings.Cut(r.contentType, ";")
		r.media = strings.ToLower(strings.TrimSpace(media))
	}
	return r.status == "200" && slices.Contains([]string{"text/html", "application/xhtml+xml", "text/plain"}, r.media)
}

// text decodes the body in the bytes of the response. Of a response that the crawler truncated, what can be decoded is
// enough.
func (r *response) text(b []byte, most int, truncated bool) ([]byte, Reason) {
	body, err := decodeBody(b[r.body:], r.fields, most)
	switch {
	case len(body) > most:
		return nil, TooLong
	case err != nil && !(truncated && errors.Is(err, io.ErrUnexpectedEOF)):
		return nil, BadHTTP
	}
	text := toUTF8(body, r.contentType)
	if r.media != "text/plain" {
		text = stripHTML(text)
	}
	if len(text) > most {
		return nil, TooLong
	}
	return text, ""
}

// decodeBody removes the encodings of a body, to at most a byte more than most. Some crawlers store the body decoded and
// keep the fields of the header, so a body that is not in the encoding is taken as it is.
func decodeBody(body []byte, fields map[string]string, most int) ([]byte, error) {
	if strings.EqualFold(fields["transfer-encoding"], "chunked") && isChunked(body) {
		var err error
		if body, err = readAtMost(httputil.NewChunkedReader(bytes.NewReader(body)), most); err != nil {
			return body, err
		}
	}
	encodings := strings.Split(strings.ToLower(fields["content-encoding"]), ",")
	for _, encoding := range slices.Backward(encodings) {
		r, err := contentReader(strings.TrimSpace(encoding), body)
		if r == nil || err != nil {
			if err != nil {
				return nil, err
			}
			continue
		}
		if body, err = readAtMost(r, most); err != nil {
			return body, err
		}
	}
	return body, nil
}

func readAtMost(r io.Reader, most int) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	if len(b) > most {
		return b, nil
	}
	return b, err
}

// isChunked reports whether a body starts with the line of a chunk's size.
func isChunked(body []byte) bool {
	line, _, _ := bytes.Cut(body[:min(len(body), 64)], []byte{'\n'})
	size, _, _ := bytes.Cut(bytes.TrimSpace(line), []byte{';'})
	return len(size) > 0 && len(bytes.Trim(bytes.TrimSpace(size), "0123456789abcdefABCDEF")) == 0
}

// contentReader returns a reader that decodes a body, or nil for one that is not encoded.
func contentReader(encoding string, body []byte) (io.Reader, error) {
	in := bytes.NewReader(body)
	switch encoding {
	case "gzip", "x-gzip":
		if !bytes.HasPrefix(body, []byte{0x1f, 0x8b}) {
			return nil, nil
		}
		return gzip.NewReader(in)
	case "deflate": // servers send it with and without the header of zlib
		if r, err := zlib.NewReader(in); err == nil {
			return r, nil
		}
		return flate.NewReader(bytes.NewReader(body)), nil
	case "br":
		if bytes.HasPrefix(bytes.TrimSpace(body), []byte{'<'}) {
			return nil, nil
		}
		return brotli.NewReader(in), nil
	case "zstd":
		if compressionOf(body[:min(len(body), 16)]) != Zstd {
			return nil, nil
		}
		return zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxPageWindow))
	case "", "identity", "none", "utf-8":
		return nil, nil
	}
	return nil, errors.New("unknown encoding")
}

// maxPageWindow is the window that RFC 8878 asks of a browser.
const maxPageWindow = 8 << 20

// toUTF8 converts text from the character set that the server, the page or its first bytes name. One that none names is
// UTF-8 if it is valid, and else windows-1252, as for browsers.
func toUTF8(body []byte, contentType string) []byte {
	encoding, name, certain := charset.DetermineEncoding(body[:min(len(body), 1024)], contentType)
	if name == "utf-8" || !certain && utf8.Valid(body) {
		return bytes.TrimPrefix(body, mark)
	}
	text, err := encoding.NewDecoder().Bytes(body)
	if err != nil {
		return body
	}
	return bytes.TrimPrefix(text, mark)
}

// invisible are elements whose text a page does not show.
var invisible = []string{"script", "style", "noscript", "template", "iframe", "noembed", "noframes"}

// inline are elements that do not separate words. All others do.
var inline = map[string]bool{}

func init() {
	for _, name := range strings.Fields("a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q s samp " +
		"small span strike strong sub sup time tt u var wbr") {
		inline[name] = true
	}
}

// stripHTML returns the visible text of a page, with its title.
func stripHTML(page []byte) []byte {
	text := make([]byte, 0, len(page)/4)
	z := html.NewTokenizer(bytes.NewReader(page))
	hidden, depth := "", 0 // within an invisible element, and elements of the same name within it
	for {
		switch token := z.Next(); token {
		case html.ErrorToken: // the end: nothing else is an error
			return text
		case html.TextToken:
			if depth == 0 {
				text = append(text, z.Text()...)
			}
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			tag, _ := z.TagName()
			name := string(tag)
			if !inline[name] {
				text = append(text, '\n')
			}
			switch {
			case token == html.StartTagToken && depth == 0 && slices.Contains(invisible, name):
				hidden, depth = name, 1
			case depth > 0 && name == hidden && token == html.StartTagToken:
				depth++
			case depth > 0 && name == hidden && token == html.EndTagToken:
				depth--
			}
		}
	}
}
