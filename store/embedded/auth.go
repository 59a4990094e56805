package embedded

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
)

// authorize checks the signature of the master key. The string that is signed names the verb, the kind of resource, its
// link and the date (REST reference, "Access control in the Azure Cosmos DB SQL API").
func (e *Engine) authorize(r *http.Request, t target) error {
	token, err := url.QueryUnescape(r.Header.Get("Authorization"))
	if err != nil || token == "" {
		return errorf(http.StatusUnauthorized, 0, "Required Header authorization is missing. Ensure a valid Authorization token is passed.")
	}
	signature, ok := strings.CutPrefix(token, "type=master&ver=1.0&sig=")
	given, err := base64.StdEncoding.DecodeString(signature)
	if !ok || err != nil {
		return errorf(http.StatusUnauthorized, 0, "The input authorization token is not of the form type=master&ver=1.0&sig=…")
	}
	kind, link := t.signed()
	mac := hmac.New(sha256.New, e.key)
	mac.Write([]byte(strings.ToLower(r.Method) + "\n" + kind + "\n" + link + "\n" +
		strings.ToLower(r.Header.Get("X-Ms-Date")) + "\n\n"))
	if !hmac.Equal(mac.Sum(nil), given) {
		return errorf(http.StatusUnauthorized, 0, "The input authorization token can't serve the request. The wrong key is being used or the expected payload is not built as per the protocol. Server used the following payload to sign: '%s'",
			strings.ReplaceAll(strings.ToLower(r.Method)+"\n"+kind+"\n"+link+"\n"+strings.ToLower(r.Header.Get("X-Ms-Date"))+"\n\n", "\n", "\\n"))
	}
	return nil
}
