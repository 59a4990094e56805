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

// keySet holds the public keys of an issuer that can verify a signature.
type keySet []key

type key struct {
	id        string // the kid; empty where it has none
	algorithm string // the one that it is for; empty where any that fits it
	public    any
}

// maxKeys is several times what an issuer has while it changes them.
const maxKeys = 100

// parseKeySet reads a JSON Web Key Set (RFC 7517, section 5). Keys that cannot verify a signature are left out, and leftOut
// says why: of an unknown kind, too short, for encryption, secret or shared. Error: it is no set.
func parseKeySet(text []byte) (keys keySet, leftOut, err error) {
	var document struct{ Keys *[]json.RawMessage }
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, nil, err
	}
	if document.Keys == nil || len(*document.Keys) > maxKeys {
		return nil, nil, fmt.Errorf("it has no list of keys, or more than %d", maxKeys)
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
		return key{}, errors.New("no public key")
	}
	return key{parsed.KeyID, parsed.Algorithm, parsed.Key}, nil
}

// RSA keys are as long as RFC 7518, section 3.3, asks for at least, and no longer than what is verified in a millisecond.
const minRSABits, maxRSABits = 2048, 8192

// checkUse refuses a key that is not for verifying (RFC 7517, sections 4.2 and 4.3), and one that comes with what is
// secret of it: everybody could have read that.
func checkUse(text []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	for _, secret := range []string{"d", "p", "q", "dp", "dq", "qi", "oth", "k"} {
		if _, told := members[secret]; told {
			return errors.New("it is not public")
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

// find gives the keys that a token may be signed with, by the id of its key and its algorithm. A token without an id has a
// key only where one alone fits (OpenID Connect Core, section 10.1).
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

// fits tells whether a key may verify signatures of an algorithm: a token must not choose another use for it.
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

// curveAlgorithms name the one algorithm of each curve (RFC 7518, section 3.4), by its bits.
var curveAlgorithms = map[int]string{256: "ES256", 384: "ES384", 521: "ES512"}
