package auth

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/go-jose/go-jose/v4"
	"github.com/golang-jwt/jwt/v5"
)

// keySet holds the public keys of an issuer that can verify signatures.
type keySet []key

type key struct {
	id        string // the kid; empty if there is none
	algorithm string // its only algorithm; if empty, any algorithm for its kind of key
	public    any
}

// maxKeys is several times the number of keys of an issuer during a rotation.
const maxKeys = 100

// parseKeySet parses a JSON Web Key Set (RFC 7517, section 5). It skips keys that must not
// verify signatures: of an unknown kind, too short, for encryption, private or symmetric.
// leftOut joins the reasons. It returns an error if text is not a key set.
func parseKeySet(text []byte) (keys keySet, leftOut, err error) {
	var document struct{ Keys *[]json.RawMessage }
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, nil, err
	}
	if document.Keys == nil || len(*document.Keys) > maxKeys {
		return nil, nil, fmt.Errorf("it has no list of keys, or more than %d keys", maxKeys)
	}
	keys = keySet{}
	for n, text := range *document.Keys {
		if key, err := parseKey(text); err != nil {
			leftOut = errors.Join(leftOut, fmt.Errorf("key %d: %w", n+1, err))
		} else {
			keys = append(keys, key)
		}
	}
	return keys, leftOut, nil
}

func parseKey(text []byte) (key, error) {
	var parsed jose.JSONWebKey
	if err := parsed.UnmarshalJSON(text); err != nil {
		return key{}, err
	}
	if err := checkUse(text); err != nil {
		return key{}, err
	}
	switch public := parsed.Key.(type) {
	case *rsa.PublicKey:
		if bits := public.N.BitLen(); bits < minRSABits || bits > maxRSABits {
			return key{}, fmt.Errorf("an RSA key of %d bits", bits)
		}
	case *ecdsa.PublicKey, ed25519.PublicKey:
	default:
		return key{}, errors.New("not a public key")
	}
	return key{parsed.KeyID, parsed.Algorithm, parsed.Key}, nil
}

// The bounds of RSA keys: RFC 7518, section 3.3, requires 2048 bits, and verifying with 8192
// bits takes up to a millisecond.
const minRSABits, maxRSABits = 2048, 8192

// checkUse rejects a key that is not for verifying (RFC 7517, sections 4.2 and 4.3), and a key
// that is published with its private part.
func checkUse(text []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	for _, secret := range []string{"d", "p", "q", "dp", "dq", "qi", "oth", "k"} {
		if _, published := members[secret]; published {
			return errors.New("its private part is published")
		}
	}
	if use, ok := members["use"]; ok && string(use) != `"sig"` {
		return errors.New("it is not for signatures")
	}
	var operations []string
	if text, ok := members["key_ops"]; ok && (json.Unmarshal(text, &operations) != nil || !slices.Contains(operations, "verify")) {
		return errors.New("it is not for verifying")
	}
	return nil
}

// find returns the keys that can have signed a token with a key id and an algorithm. If the
// token has no key id, exactly one key must match (OpenID Connect Core, section 10.1).
func (s keySet) find(id, algorithm string) []jwt.VerificationKey {
	var found []jwt.VerificationKey
	for _, k := range s {
		if (id == "" || id == k.id) && k.fits(algorithm) {
			found = append(found, k.public)
		}
	}
	if id == "" && len(found) > 1 {
		return nil
	}
	return found
}

// fits reports whether a key may verify signatures of an algorithm. The token alone must not
// choose the algorithm.
func (k key) fits(algorithm string) bool {
	if k.algorithm != "" && k.algorithm != algorithm {
		return false
	}
	switch public := k.public.(type) {
	case *rsa.PublicKey:
		return slices.Contains([]string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}, algorithm)
	case *ecdsa.PublicKey:
		return algorithm == curveAlgorithms[public.Params().BitSize]
	default:
		return algorithm == "EdDSA"
	}
}

// curveAlgorithms maps the bits of a curve to its only algorithm (RFC 7518, section 3.4).
var curveAlgorithms = map[int]string{256: "ES256", 384: "ES384", 521: "ES512"}
