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
	"strconv"
	"strings"
	"time"

	"cosmosblog/internal/loopback"
)

// The limits of a document of the issuer.
const (
	documentTimeout  = 5 * time.Second
	maxDocumentBytes = 1 << 20
	maxRedirects     = 3
)

// How long keys are taken for the issuer's before they are read again: as the answer's Cache-Control says, within these
// bounds. What the issuer withdraws is trusted for maxLifetime at most, what it adds is found sooner: see keyring.
const (
	minLifetime = 5 * time.Minute
	maxLifetime = time.Hour
)

// discovery reads an issuer's keys from where its document says (OpenID Connect Discovery, section 4).
type discovery struct {
	issuer string
	client *http.Client
	logger *slog.Logger
}

func newDiscovery(options IssuerOptions) *discovery {
	return &discovery{
		issuer: options.Issuer,
		client: &http.Client{Transport: options.Transport, Timeout: documentTimeout, CheckRedirect: staysAtHome},
		logger: options.Logger,
	}
}

// newTransport keeps no connection for the hour until it is needed again.
func newTransport() http.RoundTripper {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableKeepAlives = true
	transport.MaxResponseHeaderBytes = 64 << 10
	return transport
}

// staysAtHome refuses redirects to another host: who answers there is not who was asked.
func staysAtHome(r *http.Request, via []*http.Request) error {
	if first := via[0].URL; r.URL.Scheme != first.Scheme || r.URL.Host != first.Host {
		return errors.New("it redirects to another host")
	}
	if len(via) > maxRedirects {
		return errors.New("it redirects again and again")
	}
	return nil
}

// read reads the document and the keys, and tells how long they are good for.
func (d *discovery) read(ctx context.Context) (keySet, time.Duration, error) {
	place, err := d.keysPlace(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("the document of the issuer: %w", err)
	}
	text, header, err := d.get(ctx, place)
	if err != nil {
		return nil, 0, fmt.Errorf("the keys of the issuer: %w", err)
	}
	keys, leftOut, err := parseKeySet(text)
	if err != nil {
		return nil, 0, fmt.Errorf("the keys of the issuer: %w", err)
	}
	d.logger.LogAttrs(ctx, slog.LevelDebug, "read the issuer's keys", slog.Int("keys", len(keys)), slog.Any("leftOut", leftOut))
	if len(keys) == 0 {
		d.logger.LogAttrs(ctx, slog.LevelWarn, "the issuer has no keys that can verify a token", slog.Any("leftOut", leftOut))
	}
	return keys, lifetime(header), nil
}

// keysPlace reads where the keys are. The document must name the issuer as it is configured, or another issuer's would do.
func (d *discovery) keysPlace(ctx context.Context) (string, error) {
	text, _, err := d.get(ctx, strings.TrimSuffix(d.issuer, "/")+"/.well-known/openid-configuration")
	if err != nil {
		return "", err
	}
	var document struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return "", err
	}
	if document.Issuer != d.issuer {
		return "", fmt.Errorf("it is of another issuer: %q", document.Issuer)
	}
	return document.Keys, d.checkPlace(document.Keys)
}

// checkPlace lets keys be elsewhere, as they are at some issuers, but not come over http: only an issuer on loopback has
// its keys on loopback.
func (d *discovery) checkPlace(place string) error {
	keys, err := url.Parse(place)
	switch {
	case err == nil && keys.Scheme == "https" && keys.Host != "":
		return nil
	case err == nil && keys.Scheme == "http" && loopback.Is(keys.Host) && strings.HasPrefix(d.issuer, "http://"):
		return nil
	}
	return fmt.Errorf("its jwks_uri is no https URL: %q", place)
}

// get reads a document whole.
func (d *discovery) get(ctx context.Context, place string) ([]byte, http.Header, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, place, nil)
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
		return nil, nil, fmt.Errorf("%s answers %s", place, response.Status)
	case len(text) > maxDocumentBytes:
		return nil, nil, fmt.Errorf("%s is longer than %d MiB", place, maxDocumentBytes>>20)
	}
	return text, response.Header, nil
}

// lifetime is what the header says, within its bounds (RFC 9111, section 5.2.2).
func lifetime(header http.Header) time.Duration {
	said := maxLifetime
	for directive := range strings.SplitSeq(strings.Join(header.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch strings.ToLower(name) {
		case "no-store", "no-cache":
			return minLifetime
		case "max-age":
			if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
				said = min(said, time.Duration(seconds)*time.Second)
			}
		}
	}
	return max(said, minLifetime)
}
