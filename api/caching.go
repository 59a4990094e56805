package api

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"cosmosblog/api/documents"
)

// privateControl is the Cache-Control of an answer that only its client may keep. The client must
// ask before each use whether the answer is still the same.
const privateControl = "private, no-cache"

// publicControl begins the Cache-Control of an answer that caches may share.
const publicControl = "public, "

// isCacheable reports whether a client may keep the response of an executed query. Errors may be
// gone at the next try, and extensions describe one execution.
func isCacheable(r response) bool { return len(r.errors) == 0 && len(r.extensions) == 0 }

// cacheControl returns the Cache-Control of a cacheable answer, with some data, to a request for a
// known document. Caches do not share that an object does not exist: a replica that lags may have
// said so.
func (a *api) cacheControl(r *http.Request, known *documents.Document, data []byte) string {
	isPersonal := len(r.Header["Authorization"]) > 0 || len(r.Header[sessionHeader]) > 0 || known.AsksOfViewer
	if isPersonal || a.PublicMaxAge == 0 || hasNullRoot(data) {
		return privateControl
	}
	return fmt.Sprintf(publicControl+"max-age=%d", a.PublicMaxAge/time.Second)
}

// hasNullRoot reports whether a root field of an answer's data is null.
func hasNullRoot(data []byte) bool {
	var roots map[string]json.RawMessage
	if json.Unmarshal(data, &roots) != nil {
		return true
	}
	for _, root := range roots {
		if string(root) == "null" {
			return true
		}
	}
	return false
}

// etagOf returns the ETag of an answer that will be sent in a content coding. Answers with the same
// ETag have the same media type, coding and text. All servers return the same one. It is sent as a
// strong one, although two versions of a compressor may produce other bytes: the server sends no
// parts of answers.
func etagOf(a answer, coding string) string {
	hash := sha256.New()
	fmt.Fprintf(hash, "%s\n%s\n", a.contentType, coding)
	hash.Write(a.body)
	return `"` + hex.EncodeToString(hash.Sum(nil)[:16]) + `"`
}

// hasETag reports whether If-None-Match says that a client has the answer with an ETag. Weak ETags
// count too, and `*` stands for any (RFC 9110, section 13.1.2).
//
// An ETag has quotes around it and none in it. So a list contains these characters only if the ETag
// is one of its elements.
func hasETag(r *http.Request, etag string) bool {
	for _, value := range r.Header["If-None-Match"] {
		if strings.TrimSpace(value) == "*" || strings.Contains(value, etag) {
			return true
		}
	}
	return false
}

// unchanged is the answer to a client that has the answer a. It has no body, and the headers that a
// cache updates (RFC 9110, section 15.4.5).
func unchanged(a answer) answer {
	return answer{status: unchangedStatus, etag: a.etag, cacheControl: a.cacheControl, payment: a.payment}
}
