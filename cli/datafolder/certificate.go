package datafolder

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"

	"cosmosblog/internal/files"
)

// certificateLifetime is the longest lifetime that clients accept for a manually trusted
// certificate (Apple: 825 days).
const certificateLifetime = 825 * 24 * time.Hour

// Certificate returns the certificate in the engine's data folder. If there is none, it creates
// a self-signed one for the host of addr.
func (e *Engine) Certificate(addr string) (tls.Certificate, error) { return e.folder.certificate(addr) }

func (f *folder) certificate(addr string) (tls.Certificate, error) {
	path := f.file(tlsName)
	text, err := files.LoadSecret(path, func() ([]byte, error) { return SelfSigned(addr, time.Now()) })
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("the engine's certificate: %w", err)
	}
	certificate, err := tls.X509KeyPair(text, text)
	if err != nil {
		return certificate, fmt.Errorf("%s does not hold a certificate and its key in PEM; "+
			"delete it, and the next start creates a new one: %w", path, err)
	}
	if time.Now().After(certificate.Leaf.NotAfter) {
		return certificate, fmt.Errorf("the certificate in %s has expired: "+
			"replace it, or delete it, and the next start creates a new one", path)
	}
	return certificate, nil
}

// SelfSigned returns a certificate for loopback and the host of addr, with its key, in PEM. The
// certificate is its own authority, so a client can trust only this certificate. It is one for
// these names alone: whoever gets its key cannot pretend to be another host to that client.
func SelfSigned(addr string, now time.Time) ([]byte, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: "cosmosblog embedded engine"},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(certificateLifetime - time.Hour),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA:                  true,
		BasicConstraintsValid: true,
		MaxPathLenZero:        true, // with MaxPathLen 0: it signs no other authority
		DNSNames:              []string{"localhost"},
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	addHost(template, addr)
	constrainNames(template)
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return nil, err
	}
	return encodePEM(der, private)
}

func addHost(template *x509.Certificate, addr string) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil || host == "" {
		return
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = append(template.IPAddresses, ip)
		return
	}
	template.DNSNames = append(template.DNSNames, host)
}

// constrainNames lets a certificate be an authority for its own names only (RFC 5280, section
// 4.2.1.10). The constraint for a DNS name includes its subdomains.
func constrainNames(template *x509.Certificate) {
	template.PermittedDNSDomainsCritical = true // for all constraints
	template.PermittedDNSDomains = template.DNSNames
	for _, ip := range template.IPAddresses {
		if v4 := ip.To4(); v4 != nil {
			ip = v4
		}
		template.PermittedIPRanges = append(template.PermittedIPRanges, &net.IPNet{IP: ip, Mask: net.CIDRMask(8*len(ip), 8*len(ip))})
	}
}

func encodePEM(certificate []byte, private *ecdsa.PrivateKey) ([]byte, error) {
	key, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	for _, block := range []*pem.Block{{Type: "CERTIFICATE", Bytes: certificate}, {Type: "PRIVATE KEY", Bytes: key}} {
		if err := pem.Encode(&text, block); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}
