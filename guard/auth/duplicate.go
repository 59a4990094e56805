package auth

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
)

var errDuplicateName = errors.New("the token repeats a name")

// checkNames rejects a token whose header or claims repeat a name, at any depth (RFC 7519,
// section 4, and RFC 7515, section 4). Decoders keep the first or the last of several members, so
// other services could read another subject than this one.
func checkNames(token string) error {
	parts := strings.Split(token, ".")
	for _, part := range parts[:min(2, len(parts))] {
		text, err := base64.RawURLEncoding.DecodeString(part)
		if err != nil {
			return err
		}
		if err := checkValue(json.NewDecoder(bytes.NewReader(text))); err != nil {
			return err
		}
	}
	return nil
}

// checkValue reads one JSON value, and rejects objects in it that repeat a name.
func checkValue(decoder *json.Decoder) error {
	token, err := decoder.Token()
	if err != nil {
		return err
	}
	delimiter, nested := token.(json.Delim)
	if !nested {
		return nil
	}
	names := map[json.Token]bool{}
	for decoder.More() {
		if delimiter == '{' {
			name, err := decoder.Token()
			if err != nil {
				return err
			}
			if names[name] {
				return errDuplicateName
			}
			names[name] = true
		}
		if err := checkValue(decoder); err != nil {
			return err
		}
	}
	_, err = decoder.Token()
	return err
}
