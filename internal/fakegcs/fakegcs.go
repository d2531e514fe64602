// Package fakegcs is Google Cloud Storage for tests, over the wire: the fake of fsouza/fake-gcs-server, with the
// preconditions that it ignores, and with faults.
package fakegcs

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/fsouza/fake-gcs-server/fakestorage"
)

// Server is a fake that runs until the end of a test.
type Server struct {
	Fake *fakestorage.Server

	changes sync.Mutex // one at a time, so that a precondition holds when its change is made

	mu       sync.Mutex
	faults   []fault
	requests []string
}

type fault struct {
	match func(*http.Request) bool
	kind  Fault
}

// Fault is what happens to a request.
type Fault int

// The faults. Before and after are the points of view of what the request would change.
const (
	UnavailableBefore Fault = iota // 503, and nothing is done
	UnavailableAfter               // it is done, but the reply is a 503
	ResetBefore                    // the connection is reset, and nothing is done
	ResetAfter                     // it is done, but the connection is reset before the reply
	CutBody                        // half of the reply arrives
	Forbidden                      // 403
	Silence                        // there is no reply until the client gives up
)

// Start starts a fake with buckets, and has the storage clients of this process, and of those it starts, use it.
func Start(t testing.TB, buckets ...string) *Server {
	t.Helper()
	s := &Server{}
	listener := httptest.NewServer(s)
	t.Cleanup(listener.Close)
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
	t.Setenv("STORAGE_EMULATOR_HOST", listener.URL)
	return s
}

// Put stores an object.
func (s *Server) Put(bucket, name string, content []byte, encoding string) {
	s.Fake.CreateObject(fakestorage.Object{
		ObjectAttrs: fakestorage.ObjectAttrs{BucketName: bucket, Name: name, ContentEncoding: encoding}, Content: content,
	})
}

// Get returns the content of an object, and whether it is there.
func (s *Server) Get(bucket, name string) ([]byte, bool) {
	o, err := s.Fake.GetObject(bucket, name)
	return o.Content, err == nil
}

// Fail lets the next requests that match fail, each in one of the ways given.
func (s *Server) Fail(match func(*http.Request) bool, kinds ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, kind := range kinds {
		s.faults = append(s.faults, fault{match, kind})
	}
}

// Failed holds that all faults have struck.
func (s *Server) Failed(t testing.TB) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.faults) > 0 {
		t.Errorf("%d faults were not met", len(s.faults))
	}
	s.faults = nil
}

// Requests returns what was asked for since it was called last.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests := s.requests
	s.requests = nil
	return requests
}

// Uploads matches writes.
func Uploads(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/upload/") }

// Downloads matches reads of content.
func Downloads(r *http.Request) bool {
	return !Uploads(r) && !strings.HasPrefix(r.URL.Path, "/storage/")
}

// Deletes matches removals.
func Deletes(r *http.Request) bool { return r.Method == http.MethodDelete }

// Any matches all.
func Any(*http.Request) bool { return true }

// next takes the fault that a request meets.
func (s *Server) next(r *http.Request) (Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method+" "+r.URL.Path)
	for i, f := range s.faults {
		if f.match(r) {
			s.faults = append(s.faults[:i:i], s.faults[i+1:]...)
			return f.kind, true
		}
	}
	return 0, false
}

// ServeHTTP answers a request, or fails to.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	kind, faulty := s.next(r)
	if !faulty {
		s.serve(w, r)
		return
	}
	switch kind {
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
	case CutBody:
		reply := httptest.NewRecorder()
		s.serve(reply, r)
		for name, values := range reply.Header() {
			w.Header()[name] = values
		}
		w.Header().Set("Content-Length", strconv.Itoa(reply.Body.Len()))
		w.WriteHeader(reply.Code)
		_, _ = w.Write(reply.Body.Bytes()[:reply.Body.Len()/2]) // the connection ends after it, and the client finds out
	case Forbidden:
		http.Error(w, `{"error": {"code": 403, "message": "somebody does not have storage access."}}`, http.StatusForbidden)
	case Silence:
		_, _ = io.Copy(io.Discard, r.Body) // only then the server notices that the client is gone
		<-r.Context().Done()
	}
}

// reset breaks a connection off, as a machine does that was switched off.
func reset(w http.ResponseWriter) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	_ = connection.(*net.TCPConn).SetLinger(0)
	_ = connection.Close()
}

// serve answers by the fake. That checks the conditions of uploads; those of removals are checked here.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		s.Fake.HTTPHandler().ServeHTTP(w, r)
		return
	}
	s.changes.Lock()
	defer s.changes.Unlock()
	if r.Method == http.MethodDelete && !s.holds(r) {
		http.Error(w, `{"error": {"code": 412, "message": "conditionNotMet"}}`, http.StatusPreconditionFailed)
		return
	}
	s.Fake.HTTPHandler().ServeHTTP(w, r)
}

// holds checks the condition of a removal.
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
