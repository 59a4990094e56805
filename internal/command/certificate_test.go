package command

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

func TestCertificate(t *testing.T) {
	folder := &dataFolder{path: t.TempDir()}
	made, err := folder.certificate("192.0.2.7:8081")
	if err != nil {
		t.Fatal(err)
	}
	again, err := folder.certificate("192.0.2.7:8081")
	if err != nil || !again.Leaf.Equal(made.Leaf) {
		t.Errorf("a second certificate, or %v", err)
	}
	for _, host := range []string{"localhost", "127.0.0.1", "::1", "192.0.2.7"} {
		if err := made.Leaf.VerifyHostname(host); err != nil {
			t.Error(err)
		}
	}
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = &tls.Config{Certificates: []tls.Certificate{made}}
	server.StartTLS()
	defer server.Close()
	// A client is told to trust it as SSL_CERT_FILE does, with the very file.
	text, err := os.ReadFile(folder.file(tlsName))
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(text)
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}}
	response, err := client.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
}

func TestCertificateRefuses(t *testing.T) {
	expired, err := selfSigned("localhost:1", time.Now().Add(-2*certificateLifetime))
	if err != nil {
		t.Fatal(err)
	}
	for text, says := range map[string]string{"hello": "does not hold a certificate", string(expired): "has expired"} {
		folder := &dataFolder{path: t.TempDir()}
		if err := os.WriteFile(folder.file(tlsName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := folder.certificate("localhost:1"); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %q", err, says)
		}
	}
}
