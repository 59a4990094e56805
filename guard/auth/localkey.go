package auth

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"cosmosblog/blog"
	"cosmosblog/internal/files"
)

// LocalIssuer is the issuer of the tokens that a LocalKey signs.
const LocalIssuer = "cosmosblog-local"

// LocalTokenLifetime is the lifetime of the tokens for development. The help of the command token
// and docs/auth.md name it.
const LocalTokenLifetime = 7 * 24 * time.Hour

// LocalKeyFile is the name of the local key's file in a data folder.
const LocalKeyFile = "local-key.pem"

// LocalKey is the Ed25519 key of one data folder. It signs and verifies the tokens of
// development. A reader of its file can sign in as any user, so only the file's owner may read
// it. It may be used concurrently.
type LocalKey struct {
	Now func() time.Time // current time for the expiry of tokens; if nil, time.Now

	private ed25519.PrivateKey
	tokens  *remembered
}

var _ Verifier = LocalKey{}

// OpenLocalKey reads the key of a data folder. It creates the key and the folder if they do not
// exist. Concurrent first calls, also in several processes, return the same key. It returns an
// error if other users can read the file, or if the file has no Ed25519 key.
func OpenLocalKey(folder string) (LocalKey, error) {
	path := filepath.Join(folder, LocalKeyFile)
	text, err := files.LoadSecret(path, newLocalKey)
	if err != nil {
		return LocalKey{}, fmt.Errorf("the local key: %w", err)
	}
	private, err := parseLocalKey(text)
	if err != nil {
		return LocalKey{}, fmt.Errorf(
			"the local key: %s has no Ed25519 key in PEM (delete the file, and the next start creates a new key): %w", path, err)
	}
	return LocalKey{private: private, tokens: &remembered{}}, nil
}

const pemType = "PRIVATE KEY" // PKCS #8, RFC 5208

func newLocalKey() ([]byte, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: pemType, Bytes: der}), nil
}

func parseLocalKey(text []byte) (ed25519.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != pemType {
		return nil, errors.New("no PEM block of a private key")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	private, ok := key.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("a key of type %T", key)
	}
	return private, nil
}

// Token returns a signed token for a subject, valid from now for ttl. It returns an error if the
// subject is not valid.
func (k LocalKey) Token(subject string, now time.Time, ttl time.Duration) (string, error) {
	if !validSubject(subject) {
		return "", fmt.Errorf("a subject must have 1 to %d printable ASCII characters", MaxSubjectLength)
	}
	claims := jwt.RegisteredClaims{
		Issuer:    LocalIssuer,
		Subject:   subject,
		IssuedAt:  jwt.NewNumericDate(now),
		ExpiresAt: jwt.NewNumericDate(now.Add(ttl)),
	}
	return jwt.NewWithClaims(jwt.SigningMethodEdDSA, claims).SignedString(k.private)
}

const localAdvice = "Get a token for this server: run the command `token --sub NAME` on its data folder."

// Verify accepts the tokens that Token signed with the same key, until they expire. It remembers
// them. See Verifier.
func (k LocalKey) Verify(_ context.Context, token string) (blog.Account, error) {
	if err := checkLength(token, localAdvice); err != nil {
		return blog.Account{}, err
	}
	now := k.Now
	if now == nil {
		now = time.Now
	}
	hash := hashOf(token)
	if account, ok := k.tokens.find(hash, 0, now()); ok { // the key never changes
		return account, nil
	}
	v, err := rules{parser: localParser(now), advice: localAdvice}.verify(token, k.publicKey)
	if err == nil {
		k.tokens.add(hash, 0, v)
	}
	return v.account, err
}

// localParser returns a parser that accepts only the algorithm of LocalKey. A token must not choose
// how it is verified.
func localParser(now func() time.Time) *jwt.Parser {
	return jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodEdDSA.Alg()}),
		jwt.WithIssuer(LocalIssuer),
		jwt.WithExpirationRequired(),
		jwt.WithStrictDecoding(),
		jwt.WithTimeFunc(now),
	)
}

func (k LocalKey) publicKey(*jwt.Token) (any, error) { return k.private.Public(), nil }
