package engine

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/cockroachdb/pebble/v2"

	"cosmosblog/engine/value"
)

// offer is the protocol's resource for the throughput of a container or database.
type offer struct {
	rid      string // the offer's own resource id
	owner    string // resource id of the container or database
	limit    int    // the highest throughput that the resource can use
	resource json.RawMessage
}

func offerKey(rid string) []byte { return append([]byte{spaceOffer}, rid...) }

func parseOffer(stored []byte) (*offer, error) {
	root, err := value.Parse(stored)
	if err != nil {
		return nil, fmt.Errorf("engine: an offer is damaged: %w", err)
	}
	o := &offer{resource: append(json.RawMessage(nil), stored...)}
	o.rid, _ = root.Get("_rid").AsString()
	o.owner, _ = root.Get("offerResourceId").AsString()
	o.limit = wholeNumber(root.Path("content", "offerThroughput"))
	if settings := root.Path("content", "offerAutopilotSettings"); settings.Kind() == value.KindObject {
		o.limit = autoscaled(settings).maximum
	}
	return o, nil
}

// setOffer creates or replaces the offer of a resource. Errors: those of checkTotal.
func (e *Engine) setOffer(next *catalog, batch *pebble.Batch, rid, owner, link string, t throughput) error {
	if err := e.checkTotal(next, rid, t); err != nil {
		return err
	}
	content := value.Object([]string{"offerThroughput"}, []value.Value{value.Number(float64(t.current()))})
	if t.maximum != 0 {
		content = content.With("offerAutopilotSettings", t.autoscale)
	}
	resource := value.Object(
		[]string{"id", "offerVersion", "offerType", "offerResourceId", "resource", "content"},
		[]value.Value{value.String(rid), value.String("V2"), value.String("Invalid"), value.String(owner), value.String(link), content})
	o := &offer{rid: rid, owner: owner, limit: t.limit(), resource: e.stamp(resource, rid, "offers/"+rid+"/")}
	next.offers[rid] = o
	return batch.Set(offerKey(rid), o.resource, nil)
}

// substatusOverLimit is what the service answers beyond the limit of the total throughput. No
// document has it; answers of the service that people have published do, with this text.
const substatusOverLimit = 1028

// checkTotal checks that an offer with a new throughput keeps the account within its limit. Of
// autoscale, the maximum counts (learn.microsoft.com/azure/cosmos-db/
// limit-total-account-throughput).
func (e *Engine) checkTotal(next *catalog, rid string, t throughput) error {
	total := t.limit()
	for _, o := range next.offers {
		if o.rid != rid {
			total += o.limit
		} else if o.limit >= t.limit() {
			return nil // a lower throughput is always accepted
		}
	}
	if limit := e.options.ThroughputLimit; limit > 0 && total > limit {
		return errorf(http.StatusBadRequest, substatusOverLimit, "Your account is currently configured with a total throughput limit of %d RU/s. This operation failed because it would have increased the total throughput to %d RU/s. See https://aka.ms/cosmos-tp-limit for more information.", limit, total)
	}
	return nil
}

// offerOf returns the offer of a resource, or nil if it has no throughput of its own.
func (c *catalog) offerOf(rid string) *offer {
	for _, o := range c.offers {
		if o.owner == rid {
			return o
		}
	}
	return nil
}

// throughputOf returns the throughput of a container in RU/s: what the engine enforces, or
// otherwise that of its offer or of its database's, or the service's least.
func (e *Engine) throughputOf(d *database, c *container) float64 {
	if e.options.Throughput > 0 {
		return e.options.Throughput
	}
	offers := e.catalog.Load()
	o := offers.offerOf(c.rid)
	if o == nil {
		o = offers.offerOf(d.rid)
	}
	if o == nil {
		return minThroughput
	}
	return float64(max(o.limit, minThroughput))
}

// dropOffer deletes the offer of a resource if there is one.
func dropOffer(next *catalog, batch *pebble.Batch, owner string) {
	if o := next.offerOf(owner); o != nil {
		delete(next.offers, o.rid)
		batch.Delete(offerKey(o.rid), nil)
	}
}

// newOfferRID returns the resource id of an offer: four bytes, as on the service.
func newOfferRID(number uint32) string { return databaseRID(number) }

func (e *Engine) loadOffers(c *catalog) error {
	return e.each([]byte{spaceOffer}, func(_, stored []byte) error {
		o, err := parseOffer(stored)
		if err != nil {
			return err
		}
		c.offers[o.rid] = o
		return nil
	})
}

// listOffers lists the offers or returns the results of a query over them.
func (r *request) listOffers() (*response, error) {
	var definitions []json.RawMessage
	for _, o := range sorted(r.engine.catalog.Load().offers) {
		definitions = append(definitions, o.resource)
	}
	return r.listDefinitions("", "Offers", definitions)
}

func (r *request) queryOffers() (*response, error) {
	if !IsQuery(r.Header) {
		return nil, badRequest("An offer can only be created with its container or database.")
	}
	return r.listOffers()
}

func (r *request) readOffer() (*response, error) {
	o, ok := r.engine.catalog.Load().offers[r.names[0]]
	if !ok {
		return nil, errResourceNotFound
	}
	answer, err := r.readDefinition(o.resource)
	return withMinThroughput(answer, o.resource), err
}

// withMinThroughput adds headers with the offer's lowest permitted throughput and the state of its
// replacement, which is never pending.
func withMinThroughput(answer *response, resource []byte) *response {
	least := minThroughput
	if root, err := value.Parse(resource); err == nil && !root.Path("content", "offerAutopilotSettings").IsUndefined() {
		least = minAutoscale
	}
	return answer.with("X-Ms-Cosmos-Min-Throughput", strconv.Itoa(least)).with("X-Ms-Offer-Replace-Pending", "false")
}

// replaceOffer changes a throughput. The number of physical ranges stays the same. Errors: 400,
// 404, 412.
func (r *request) replaceOffer() (*response, error) {
	body, err := value.Parse(r.body)
	if err != nil {
		return nil, badRequest("The body is not JSON: %v.", err)
	}
	t := throughput{manual: wholeNumber(body.Path("content", "offerThroughput"))}
	if settings := body.Path("content", "offerAutopilotSettings"); settings.Kind() == value.KindObject {
		t = autoscaled(settings)
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	rid, resource := r.names[0], json.RawMessage(nil)
	err = r.engine.changeCatalog(func(next *catalog, batch *pebble.Batch) error {
		old, ok := next.offers[rid]
		if !ok {
			return errResourceNotFound
		}
		if err := matchDefinition(old.resource, r.Header.Get("If-Match")); err != nil {
			return err
		}
		root, err := value.Parse(old.resource)
		if err != nil {
			return err
		}
		link, _ := root.Get("resource").AsString()
		err = r.engine.setOffer(next, batch, rid, old.owner, link, t)
		resource = next.offers[rid].resource
		return err
	})
	if err != nil {
		return nil, err
	}
	return withMinThroughput(definitionResponse(http.StatusOK, resource, manageCharge), resource), nil
}
