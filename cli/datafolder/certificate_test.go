package datafolder

import (
	"crypto"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

func TestCertificate(t *testing.T) {
	f := &folder{path: t.TempDir()}
	made, err := f.certificate("192.0.2.7:8081")
	if err != nil {
		t.Fatal(err)
	}
	second, err := f.certificate("192.0.2.7:8081")
	if err != nil || !second.Leaf.Equal(made.Leaf) {
		t.Errorf("the second call returned another certificate, or the error %v", err)
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
	// The client trusts the file, as with SSL_CERT_FILE.
	text, err := os.ReadFile(f.file(tlsName))
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

// Who has the certificate's key cannot use it for other hosts, although clients trust it.
func TestCertificateSignsNoOtherHost(t *testing.T) {
	f := &folder{path: t.TempDir()}
	made, err := f.certificate("192.0.2.7:8081")
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(made.Leaf)
	for name, leaf := range map[string]*x509.Certificate{
		"bank.example": {DNSNames: []string{"bank.example"}},
		"192.0.2.8":    {IPAddresses: []net.IP{net.IPv4(192, 0, 2, 8)}},
		"2001:db8::1":  {IPAddresses: []net.IP{net.ParseIP("2001:db8::1")}},
	} {
		leaf.SerialNumber, leaf.NotBefore, leaf.NotAfter = big.NewInt(7), made.Leaf.NotBefore, made.Leaf.NotAfter
		der, err := x509.CreateCertificate(rand.Reader, leaf, made.Leaf, made.PrivateKey.(crypto.Signer).Public(), made.PrivateKey)
		if err != nil {
			t.Fatal(err)
		}
		signed, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := signed.Verify(x509.VerifyOptions{DNSName: name, Roots: trusted}); err == nil {
			t.Errorf("a certificate for %s is valid", name)
		}
	}
	if made.Leaf.MaxPathLen != 0 || !made.Leaf.PermittedDNSDomainsCritical {
		t.Errorf("path length %d, critical %v", made.Leaf.MaxPathLen, made.Leaf.PermittedDNSDomainsCritical)
	}
}

func TestUnusableCertificates(t *testing.T) {
	expired, err := SelfSigned("localhost:1", time.Now().Add(-2*certificateLifetime))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"hello": "does not hold a certificate", string(expired): "has expired"} {
		f := &folder{path: t.TempDir()}
		if err := os.WriteFile(f.file(tlsName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := f.certificate("localhost:1"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
