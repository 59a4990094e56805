package main

import (
	"crypto/tls"
	"os"
	"time"

	"cosmosblog/cli/datafolder"
)

// newCertificate returns a certificate for the address, as the engine makes them, and writes it to
// a file that the tests trust.
func newCertificate(file string) (tls.Certificate, error) {
	text, err := datafolder.SelfSigned(address, time.Now())
	if err != nil {
		return tls.Certificate{}, err
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(text, text)
}
