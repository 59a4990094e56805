package store

import (
	"context"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"cosmosblog/internal/blog"
)

// Options says which database to use, and injects what tests hold still.
type Options struct {
	Endpoint   string                 // of the account: http or https
	Key        string                 // the account's master key; where empty, Credential is used
	Credential azcore.TokenCredential // Entra ID
	Database   string                 // "cosmosblog" where empty
	Transport  policy.Transporter     // net/http's where nil

	Now func() time.Time // time.Now where nil
	IDs blog.IDSource
}

// Store is one database of an account.
type Store struct{}

// Open makes a Store and reads the account and every container, so that later requests need no metadata.
// Errors: those of Check: a *MissingError says which containers or scripts are not there.
func Open(ctx context.Context, options Options) (*Store, error) { panic("not built yet") }

// Close ends the use of the client's shared caches. It sends nothing.
func (s *Store) Close() { panic("not built yet") }
