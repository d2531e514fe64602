package objectio_test

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/objectio"
)

// memory is an object store of one bucket in memory.
type memory struct {
	mu       sync.Mutex
	version  int
	contents map[string][]byte
	objects  map[string]objectio.Object
	requests int
	fail     func(request string) error // called after a request was carried out
}

func newMemory() *memory {
	return &memory{contents: map[string][]byte{}, objects: map[string]objectio.Object{}}
}

// begin locks the store for a request.
func (m *memory) begin(ctx context.Context) (unlock func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	m.requests++
	return m.mu.Unlock, nil
}

// reply returns the error of a request, or that of its reply.
func (m *memory) reply(request string) error {
	if m.fail == nil {
		return nil
	}
	return m.fail(request)
}

func (m *memory) put(name, token string, content []byte) objectio.Object {
	m.version++
	crc := crc32.Checksum(content, crc32.MakeTable(crc32.Castagnoli))
	o := objectio.Object{Name: name, Size: int64(len(content)), Version: fmt.Sprint(m.version), CRC32C: fileio.Checksum(crc), Token: token}
	m.objects[name], m.contents[name+"@"+o.Version] = o, bytes.Clone(content)
	return o
}

func (m *memory) Stat(ctx context.Context, bucket, name string) (objectio.Object, error) {
	unlock, err := m.begin(ctx)
	if err != nil {
		return objectio.Object{}, err
	}
	defer unlock()
	o, ok := m.objects[name]
	if !ok {
		return o, &objectio.Error{Text: "no such object", Kind: fs.ErrNotExist}
	}
	return o, m.reply("stat")
}

func (m *memory) List(ctx context.Context, bucket, prefix, delimiter, page string, limit int) (found []objectio.Object, next string, err error) {
	unlock, err := m.begin(ctx)
	if err != nil {
		return nil, "", err
	}
	defer unlock()
	for _, name := range slices.Sorted(maps.Keys(m.objects)) {
		o := m.objects[name]
		rest, ok := strings.CutPrefix(name, prefix)
		if i := strings.Index(rest, delimiter); delimiter != "" && i >= 0 {
			o = objectio.Object{Name: prefix + rest[:i+1]}
		}
		if !ok || o.Name <= page || len(found) > 0 && found[len(found)-1].Name == o.Name {
			continue
		}
		if len(found) == min(limit, 3) { // small pages
			return found, found[len(found)-1].Name, nil
		}
		found = append(found, o)
	}
	return found, "", m.reply("list")
}

func (m *memory) Read(ctx context.Context, bucket string, o objectio.Object, p []byte, offset int64) error {
	unlock, err := m.begin(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if m.objects[o.Name].Version != o.Version {
		return &objectio.Error{Text: "no such object", Kind: fs.ErrNotExist}
	}
	if copy(p, m.contents[o.Name+"@"+o.Version][offset:]) < len(p) {
		return io.ErrUnexpectedEOF
	}
	return m.reply("read")
}

func (m *memory) Upload(ctx context.Context, bucket, name, token string, c objectio.Condition) (objectio.Upload, error) {
	return &memoryUpload{memory: m, ctx: ctx, name: name, token: token, condition: c}, nil
}

type memoryUpload struct {
	bytes.Buffer
	memory      *memory
	ctx         context.Context
	name, token string
	condition   objectio.Condition
}

func (u *memoryUpload) Commit() (version string, err error) {
	unlock, err := u.memory.begin(u.ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, ok := u.memory.objects[u.name]; ok && u.condition == objectio.Absent || u.condition == objectio.Never {
		return "", &objectio.Error{Text: "the condition does not hold", Kind: fs.ErrExist}
	}
	o := u.memory.put(u.name, u.token, u.Bytes())
	return o.Version, u.memory.reply("upload")
}

func (m *memory) Delete(ctx context.Context, bucket, name, version string) error {
	unlock, err := m.begin(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if o, ok := m.objects[name]; !ok || o.Version != version {
		return &objectio.Error{Text: "no such object", Kind: fs.ErrNotExist}
	}
	delete(m.objects, name)
	return m.reply("delete")
}
