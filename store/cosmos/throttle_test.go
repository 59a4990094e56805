package cosmos_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/cosmostest"
	"cosmosblog/internal/inprocess"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/cosmos"
)

// TestThrottledRequestsAreRetried checks that retries keep the throughput of a container at its
// budget. After the last retry, a request fails with 429. Each container has its own budget.
func TestThrottledRequestsAreRetried(t *testing.T) {
	const perSecond = 20
	engine := cosmostest.New(t, cosmostest.Options{})
	begin := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	b := storetest.NewThrottled(begin, perSecond)
	engine.Inject(b.Fault)
	db, err := cosmos.New(cosmos.Options{Endpoint: inprocess.NewEndpoint(), Key: engine.Key(), Transport: engine})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	client := db.Client()
	ctx := t.Context()
	if _, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "d"}, nil); err != nil {
		t.Fatal(err)
	}
	database, _ := client.NewDatabase("d")
	containers := map[string]*azcosmos.ContainerClient{}
	for _, name := range []string{"busy", "idle"} {
		if _, err := database.CreateContainer(ctx, azcosmos.ContainerProperties{ID: name, PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{
			Paths: []string{"/pk"}, Kind: azcosmos.PartitionKeyKindHash, Version: 2}}, nil); err != nil {
			t.Fatal(err)
		}
		containers[name], _ = database.NewContainer(name)
	}
	pk := azcosmos.NewPartitionKeyString("p")

	// The first request starts the container's first second. From then on, the clock is at the end
	// of a second.
	spent := 0.0
	for i := range 40 {
		id := fmt.Sprint("i", i)
		written, err := containers["busy"].CreateItem(ctx, pk, []byte(fmt.Sprintf(`{"id":%q,"pk":"p"}`, id)), nil)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			b.Advance(time.Second - time.Millisecond)
		}
		read, err := containers["busy"].ReadItem(ctx, pk, id, nil)
		if err != nil {
			t.Fatal(err)
		}
		spent += float64(written.RequestCharge + read.RequestCharge)
	}
	seconds := b.Now().Sub(begin).Seconds()
	if b.Refused() == 0 || spent > perSecond*(seconds+2) || spent < perSecond*(seconds-2) {
		t.Errorf("%.0f RU in %.0f seconds with %d RU/s, %d requests throttled", spent, seconds, perSecond, b.Refused())
	}

	b.Stopped = true
	use := func(container string) (err error) {
		for range 20 {
			if _, err = containers[container].UpsertItem(ctx, pk, []byte(`{"id":"i0","pk":"p"}`), nil); err != nil {
				return err
			}
		}
		return nil
	}
	before := b.Refused()
	refusal, ok := errors.AsType[*azcore.ResponseError](use("busy"))
	if !ok || refusal.StatusCode != http.StatusTooManyRequests || refusal.RawResponse.Header.Get("X-Ms-Substatus") != "3200" {
		t.Fatalf("with an exhausted budget: error %v, want 429/3200", refusal)
	}
	if tries := b.Refused() - before; tries != 1+cosmos.ThrottleRetries {
		t.Errorf("%d tries, want %d", tries, 1+cosmos.ThrottleRetries)
	}
	if _, err := containers["idle"].UpsertItem(ctx, pk, []byte(`{"id":"i0","pk":"p"}`), nil); err != nil {
		t.Errorf("a container with budget left: %v", err)
	}
}
