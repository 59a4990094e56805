package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"cosmosblog/internal/loopback"
)

// The limits for reading one of the issuer's documents.
const (
	documentTimeout  = 5 * time.Second
	maxDocumentBytes = 1 << 20
	maxRedirects     = 3
)

// The bounds of a key set's lifetime, after which the keys are read again. Within them, the
// response's Cache-Control determines the lifetime. A withdrawn key is therefore trusted for
// maxLifetime at most. A new key is found sooner: see keyring.
const (
	minLifetime = 5 * time.Minute
	maxLifetime = time.Hour
)

// discovery reads the keys of an issuer from the URL in its discovery document (OpenID Connect
// Discovery, section 4).
type discovery struct {
	issuer string
	client *http.Client
	logger *slog.Logger
	// tokenOrigin is the origin of the token endpoint, as the document last said.
	tokenOrigin atomic.Pointer[string]
}

func newDiscovery(options IssuerOptions) *discovery {
	return &discovery{
		issuer: options.Issuer,
		client: &http.Client{Transport: options.Transport, Timeout: documentTimeout, CheckRedirect: checkRedirect},
		logger: options.Logger,
	}
}

// newTransport returns a transport that closes each connection after use, because the next
// request comes an hour later.
func newTransport() http.RoundTripper {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableKeepAlives = true
	transport.MaxResponseHeaderBytes = 64 << 10
	return transport
}

// checkRedirect rejects redirects to another host, because the keys there are not the issuer's.
func checkRedirect(r *http.Request, via []*http.Request) error {
	if first := via[0].URL; r.URL.Scheme != first.Scheme || r.URL.Host != first.Host {
		return errors.New("it redirects to another host")
	}
	if len(via) > maxRedirects {
		return errors.New("it redirects too often")
	}
	return nil
}

// read reads the document and the keys. It returns the usable keys and their lifetime.
func (d *discovery) read(ctx context.Context) (keySet, time.Duration, error) {
	keysURL, err := d.readKeysURL(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("the issuer's document: %w", err)
	}
	text, header, err := d.get(ctx, keysURL)
	if err != nil {
		return nil, 0, fmt.Errorf("the issuer's keys: %w", err)
	}
	keys, leftOut, err := parseKeySet(text)
	if err != nil {
		return nil, 0, fmt.Errorf("the issuer's keys: %w", err)
	}
	d.logger.LogAttrs(ctx, slog.LevelDebug, "read the issuer's keys", slog.Int("keys", len(keys)), slog.Any("leftOut", leftOut))
	if len(keys) == 0 {
		d.logger.LogAttrs(ctx, slog.LevelWarn, "the issuer has no keys that can verify a token", slog.Any("leftOut", leftOut))
	}
	return keys, lifetime(header), nil
}

// readKeysURL reads the URL of the keys from the issuer's document. The document must name the
// configured issuer, so that no other issuer's document is used.
func (d *discovery) readKeysURL(ctx context.Context) (string, error) {
	text, _, err := d.get(ctx, strings.TrimSuffix(d.issuer, "/")+"/.well-known/openid-configuration")
	if err != nil {
		return "", err
	}
	var document struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
		Tokens string `json:"token_endpoint"` // pages that sign people in use it
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return "", err
	}
	if document.Issuer != d.issuer {
		return "", fmt.Errorf("it belongs to another issuer: %q", document.Issuer)
	}
	if d.isTrusted(document.Tokens) {
		origin := originOf(document.Tokens)
		d.tokenOrigin.Store(&origin)
	}
	if !d.isTrusted(document.Keys) {
		return "", fmt.Errorf("its jwks_uri is not an https URL: %q", document.Keys)
	}
	return document.Keys, nil
}

// isTrusted requires https of an address in the issuer's document. It allows any host, because some
// issuers have several. If the issuer is on loopback, the address may be on loopback over http. A
// host has no characters that would mean something in a header.
func (d *discovery) isTrusted(text string) bool {
	address, err := url.Parse(text)
	if err != nil || !hostForm.MatchString(address.Host) {
		return false
	}
	return address.Scheme == "https" ||
		address.Scheme == "http" && loopback.Is(address.Host) && strings.HasPrefix(d.issuer, "http://")
}

var hostForm = regexp.MustCompile(`^[A-Za-z0-9._:[\]-]+$`)

// originOf returns the origin of a valid URL, as browsers write it.
func originOf(text string) string {
	address, _ := url.Parse(text)
	return address.Scheme + "://" + strings.ToLower(address.Host)
}

// get reads a document of at most maxDocumentBytes.
func (d *discovery) get(ctx context.Context, address string) ([]byte, http.Header, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("Accept", "application/json")
	response, err := d.client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxDocumentBytes+1))
	switch {
	case err != nil:
		return nil, nil, err
	case response.StatusCode != http.StatusOK:
		return nil, nil, fmt.Errorf("%s returns %s", address, response.Status)
	case len(text) > maxDocumentBytes:
		return nil, nil, fmt.Errorf("%s is longer than %d MiB", address, maxDocumentBytes>>20)
	}
	return text, response.Header, nil
}

// lifetime returns the lifetime of a response by its Cache-Control, within minLifetime and
// maxLifetime (RFC 9111, section 5.2.2).
func lifetime(header http.Header) time.Duration {
	age := maxLifetime
	for directive := range strings.SplitSeq(strings.Join(header.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch strings.ToLower(name) {
		case "no-store", "no-cache":
			return minLifetime
		case "max-age":
			if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
				age = min(age, time.Duration(seconds)*time.Second)
			}
		}
	}
	return max(age, minLifetime)
}
