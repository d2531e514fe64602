package gcsio

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/internal/fakegcs"
)

// Without credentials nothing is read, not even from public buckets; the error says what to do. The next call tries again.
func TestCredentials(t *testing.T) {
	fakegcs.Start(t, "b")
	emulator := os.Getenv("STORAGE_EMULATOR_HOST")
	t.Setenv("STORAGE_EMULATOR_HOST", "")
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(t.TempDir(), "none.json"))
	s := newStore()
	_, err := s.Stat(t.Context(), "gs://b/file")
	if err == nil || !strings.HasPrefix(err.Error(), "gs://b/file: no credentials for Google Cloud Storage; run gcloud auth application-default login, or set GOOGLE_APPLICATION_CREDENTIALS") || strings.Contains(err.Error(), "\n") {
		t.Errorf("the error is %v", err)
	}
	if errors.Is(err, fs.ErrNotExist) {
		t.Error("that there are no credentials is taken for a file that does not exist")
	}
	t.Setenv("STORAGE_EMULATOR_HOST", emulator)
	if _, err := s.Stat(t.Context(), "gs://b/file"); !errors.Is(err, fs.ErrNotExist) || err.Error() != "gs://b/file: no such object" {
		t.Errorf("the error is %v", err)
	}
}

// Credentials that have expired or were revoked are not a fault of the network.
func TestRefusedCredentials(t *testing.T) {
	google := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error": "invalid_grant", "error_description": "Token has been expired or revoked."}`)
	}))
	defer google.Close()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	key, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "p", "client_email": "a@b", "token_uri": google.URL,
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(private)})),
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key.json")
	if err := os.WriteFile(file, key, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("STORAGE_EMULATOR_HOST", "")
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
	_, err = newStore().Stat(t.Context(), "gs://b/file")
	want := `gs://b/file: Google rejected the credentials (auth: cannot fetch token: 400 Response: {"error": "invalid_grant", "error_description": "Token has been expired or revoked."}); ` + remedy
	if !errors.Is(err, fs.ErrPermission) || err.Error() != want {
		t.Errorf("the error is %v", err)
	}
}
