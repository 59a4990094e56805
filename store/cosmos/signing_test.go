package cosmos_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/cosmostest"
	"cosmosblog/internal/inprocess"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/schema"
)

// newKey returns a master key that is made from a name.
func newKey(name string) string {
	return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(name+" ", 10)))
}

// rotatedAccount is an account whose key is rotated beside requests of a DB, which reads the key
// from a file.
type rotatedAccount struct {
	*cosmostest.Account
	t     *testing.T
	db    *cosmos.DB
	file  string // content; empty if there is no file
	reads int    // of the file; never at the same time
}

func newRotatedAccount(t *testing.T) *rotatedAccount {
	t.Helper()
	a := &rotatedAccount{Account: cosmostest.New(t, cosmostest.Options{}), t: t}
	a.file = a.Key()
	var err error
	a.db, err = cosmos.New(cosmos.Options{Endpoint: inprocess.NewEndpoint(), Key: a.Key(), Transport: a, ReadKey: func() (string, error) {
		a.reads++
		if a.file == "" {
			return "", errors.New("there is no file")
		}
		return a.file, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.db.Close)
	if _, err := provision.Run(t.Context(), a.db, provision.Options{}); err != nil {
		t.Fatal(err)
	}
	return a
}

// rotate writes a key to the file, and replaces the account's key by another one.
func (a *rotatedAccount) rotate(file, key string) {
	a.t.Helper()
	a.file = file
	if err := a.SetKey(key); err != nil {
		a.t.Fatal(err)
	}
}

// use sends requests of each kind. Error: that of the first one that failed.
func (a *rotatedAccount) use() error {
	ctx, db, partition := a.t.Context(), a.db, azcosmos.NewPartitionKeyString("a b")
	leases := db.Container(schema.Leases)
	if _, err := leases.UpsertItem(ctx, partition, []byte(`{"id":"a b","type":"x"}`), nil); err != nil {
		return err
	}
	if _, err := leases.ReadItem(ctx, partition, "a b", nil); err != nil {
		return err
	}
	database, err := db.Client().NewDatabase(db.Name())
	if err != nil {
		return err
	}
	further := azcosmos.ContainerProperties{ID: fmt.Sprint("further", a.reads),
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/id"}, Version: 2}}
	throughput := azcosmos.NewManualThroughputProperties(500)
	if _, err := database.CreateContainer(ctx, further, &azcosmos.CreateContainerOptions{ThroughputProperties: &throughput}); err != nil {
		return err
	}
	throughput = azcosmos.NewManualThroughputProperties(600)
	if _, err := db.Container(further.ID).ReplaceThroughput(ctx, throughput, nil); err != nil {
		return err
	}
	if _, err := db.IsServerless(ctx); err != nil {
		return err
	}
	_, err = provision.Run(ctx, db, provision.Options{}) // reads all scripts
	return err
}

// TestRotatedKey changes an account's key beside requests, through azcosmos and through the REST
// client. The operator has put the new key into the file before: the account has two keys, and
// rejects one from the moment in which it is regenerated (learn.microsoft.com/azure/cosmos-db/
// secure-access-to-data, "Key rotation and regeneration").
func TestRotatedKey(t *testing.T) {
	a := newRotatedAccount(t)
	second, third := newKey("second"), newKey("third")
	a.rotate(second, a.Key())
	if err := a.use(); err != nil || a.reads != 0 {
		t.Fatalf("the first key is still valid: %v, with %d reads", err, a.reads)
	}
	a.rotate(second, second)
	if err := a.use(); err != nil || a.reads != 1 {
		t.Fatalf("the second key: %v, with %d reads", err, a.reads)
	}
	a.rotate(third, third)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if _, err := a.db.IsServerless(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if a.reads != 2 {
		t.Errorf("read %d times, want once for all requests at the same time", a.reads-1)
	}
}

// TestWrongKeyInTheFile checks that requests fail with 401 while the file has no valid key, and
// succeed as soon as it has one.
func TestWrongKeyInTheFile(t *testing.T) {
	a := newRotatedAccount(t)
	for i, wrong := range []string{a.Key(), "", "?", newKey("other")} {
		valid := newKey(fmt.Sprint("valid", i))
		a.rotate(wrong, valid)
		err := a.use()
		if status, _ := cosmos.StatusOf(err); status != http.StatusUnauthorized {
			t.Errorf("file %q: %v", wrong, err)
		}
		if text := cosmos.SetupError(err).Error(); !strings.Contains(text, "COSMOS_KEY_FILE") {
			t.Errorf("file %q: %s", wrong, text)
		}
		a.file = valid
		if err := a.use(); err != nil {
			t.Errorf("after file %q: %v", wrong, err)
		}
	}
}
