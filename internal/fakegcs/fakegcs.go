// Package fakegcs is a server of Google Cloud Storage for tests: fsouza/fake-gcs-server with faults, and with the
// preconditions that it ignores.
package fakegcs

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/fsouza/fake-gcs-server/fakestorage"
)

// Server runs until the end of a test.
type Server struct {
	Fake *fakestorage.Server
	URL  string

	changes sync.Mutex // makes checking a precondition and the change atomic

	mu     sync.Mutex
	faults []fault
}

type fault struct {
	match func(*http.Request) bool
	kind  Fault
	first func() // of delay
}

// Fault is what happens to a request.
type Fault int

// The faults.
const (
	UnavailableBefore Fault = iota // 503, and nothing is done
	UnavailableAfter               // it is done, but the reply is a 503
	ResetBefore                    // the connection is reset, and nothing is done
	ResetAfter                     // it is done, but the connection is reset before the reply
	CutBody                        // half of the reply arrives
	Forbidden                      // 403
	Silence                        // there is no reply until the client gives up
	Flip                           // a bit of the reply is flipped
	delay
)

// Start starts a server with buckets. New storage clients of this process and of its children use it.
func Start(t testing.TB, buckets ...string) *Server {
	t.Helper()
	s := New(t, buckets...)
	t.Setenv("STORAGE_EMULATOR_HOST", s.URL)
	return s
}

// New starts a server with buckets. Set STORAGE_EMULATOR_HOST to its URL to use it.
func New(t testing.TB, buckets ...string) *Server {
	t.Helper()
	s := &Server{}
	listener := httptest.NewServer(s)
	t.Cleanup(listener.Close)
	s.URL = listener.URL
	// Content is read by the XML API, which the fake knows by the host.
	fake, err := fakestorage.NewServerWithOptions(fakestorage.Options{NoListener: true, PublicHost: listener.Listener.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fake.Stop)
	s.Fake = fake
	for _, b := range buckets {
		fake.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: b})
	}
	return s
}

// Put stores an object, with a Content-Encoding unless that is empty.
func (s *Server) Put(bucket, name string, content []byte, encoding string) {
	s.Fake.CreateObject(fakestorage.Object{
		ObjectAttrs: fakestorage.ObjectAttrs{BucketName: bucket, Name: name, ContentEncoding: encoding}, Content: content,
	})
}

// Get returns the content of an object, and whether it exists.
func (s *Server) Get(bucket, name string) ([]byte, bool) {
	o, err := s.Fake.GetObject(bucket, name)
	return o.Content, err == nil
}

// Fail makes the next matching requests fail, one with each of the faults.
func (s *Server) Fail(match func(*http.Request) bool, kinds ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, kind := range kinds {
		s.faults = append(s.faults, fault{match: match, kind: kind})
	}
}

// Delay calls first when the n-th matching request has arrived, before it is served. first may send requests. met reports
// whether there was such a request, and cancels the delay.
func (s *Server) Delay(match func(*http.Request) bool, n int, first func()) (met func() bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	came := 0
	nth := func(r *http.Request) bool {
		if match(r) {
			came++
		}
		return came == n
	}
	s.faults = append(s.faults, fault{nth, delay, first})
	return func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.faults = slices.DeleteFunc(s.faults, func(f fault) bool { return f.kind == delay })
		return came >= n
	}
}

// RemoveAll removes the objects with a prefix.
func (s *Server) RemoveAll(t testing.TB, bucket, prefix string) {
	t.Helper()
	for _, name := range s.List(t, bucket, prefix) {
		if err := s.Fake.Backend().DeleteObject(bucket, name); err != nil {
			t.Error(err)
		}
	}
}

// List returns the names of the objects with a prefix.
func (s *Server) List(t testing.TB, bucket, prefix string) (names []string) {
	t.Helper()
	found, err := s.Fake.ListObjectsWithOptionsPaginated(bucket, fakestorage.ListOptions{Prefix: prefix})
	if err != nil {
		t.Error(err)
	}
	for _, o := range found.Objects {
		names = append(names, o.Name)
	}
	return names
}

// Failed checks that all faults have occurred.
func (s *Server) Failed(t testing.TB) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.faults) > 0 {
		t.Errorf("%d faults were not met", len(s.faults))
	}
	s.faults = nil
}

// Uploads matches writes.
func Uploads(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/upload/") }

// Downloads matches reads of contents.
func Downloads(r *http.Request) bool {
	return !Uploads(r) && !strings.HasPrefix(r.URL.Path, "/storage/")
}

// Changes matches writes and removals.
func Changes(r *http.Request) bool { return Uploads(r) || Deletes(r) }

// Deletes matches removals.
func Deletes(r *http.Request) bool { return r.Method == http.MethodDelete }

// Any matches all requests.
func Any(*http.Request) bool { return true }

// next removes and returns the fault of a request.
func (s *Server) next(r *http.Request) (fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range s.faults {
		if f.match(r) {
			s.faults = append(s.faults[:i:i], s.faults[i+1:]...)
			return f, true
		}
	}
	return fault{}, false
}

// ServeHTTP answers a request, with its fault.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fault, faulty := s.next(r)
	if !faulty {
		s.serve(w, r)
		return
	}
	switch fault.kind {
	case UnavailableBefore:
		http.Error(w, "try later", http.StatusServiceUnavailable)
	case UnavailableAfter:
		s.serve(httptest.NewRecorder(), r)
		http.Error(w, "try later", http.StatusServiceUnavailable)
	case ResetBefore:
		reset(w)
	case ResetAfter:
		s.serve(httptest.NewRecorder(), r)
		reset(w)
	case Flip:
		reply := s.record(w, r)
		content := reply.Body.Bytes()
		content[len(content)/2] ^= 1
		w.WriteHeader(reply.Code)
		_, _ = w.Write(content)
	case delay:
		fault.first()
		s.serve(w, r)
	case CutBody:
		reply := s.record(w, r)
		w.Header().Set("Content-Length", strconv.Itoa(reply.Body.Len()))
		w.WriteHeader(reply.Code)
		_, _ = w.Write(reply.Body.Bytes()[:reply.Body.Len()/2]) // the client notices the end of the connection
	case Forbidden:
		http.Error(w, `{"error": {"code": 403, "message": "somebody does not have storage access."}}`, http.StatusForbidden)
	case Silence:
		_, _ = io.Copy(io.Discard, r.Body) // else the server does not notice that the client is gone
		<-r.Context().Done()
	}
}

// record returns the answer of the fake, and sends its header.
func (s *Server) record(w http.ResponseWriter, r *http.Request) *httptest.ResponseRecorder {
	reply := httptest.NewRecorder()
	s.serve(reply, r)
	for name, values := range reply.Header() {
		w.Header()[name] = values
	}
	return reply
}

func reset(w http.ResponseWriter) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	_ = connection.(*net.TCPConn).SetLinger(0)
	_ = connection.Close()
}

// serve returns the answer of the fake, which checks preconditions of uploads but not those of removals.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		s.Fake.HTTPHandler().ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body) // before the lock, since a stopped client sends no more
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.changes.Lock()
	defer s.changes.Unlock()
	if r.Method == http.MethodDelete && !s.holds(r) {
		http.Error(w, `{"error": {"code": 412, "message": "conditionNotMet"}}`, http.StatusPreconditionFailed)
		return
	}
	s.Fake.HTTPHandler().ServeHTTP(w, r)
}

// holds checks the precondition of a removal.
func (s *Server) holds(r *http.Request) bool {
	want := r.URL.Query().Get("ifGenerationMatch")
	if want == "" {
		return true
	}
	_, path, _ := strings.Cut(r.URL.Path, "/b/")
	bucket, name, _ := strings.Cut(path, "/o/")
	o, err := s.Fake.GetObject(bucket, name)
	return err != nil || strconv.FormatInt(o.Generation, 10) == want
}
