package embedded

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"

	"github.com/cockroachdb/pebble/v2"

	"cosmosblog/store/embedded/value"
)

// catalog is what there is: it is never changed, but replaced as a whole, so that requests read it without a lock.
type catalog struct {
	databases map[string]*database
	offers    map[string]*offer // by their resource ids
	dropped   []*container      // by the change that made this catalog
}

// storedDefinition is how a database or a container is kept.
type storedDefinition struct {
	Number   uint32          `json:"number"`
	Ranges   int             `json:"ranges,omitempty"` // that it was made with
	Splits   []split         `json:"splits,omitempty"`
	Layout   int             `json:"layout,omitempty"` // how what is derived of its items is kept: see rebuild
	Resource json.RawMessage `json:"resource"`
}

// stored gives what is kept of the container's definition.
func (c *container) stored() storedDefinition {
	return storedDefinition{Number: c.number, Ranges: len(c.ranges) - len(c.splits), Splits: c.splits, Layout: layout, Resource: c.resource}
}

func databaseKey(name string) []byte { return append([]byte{spaceDatabase}, name...) }

func definitionKey(database uint32, name string) []byte {
	return containerKey(spaceContainer, database, []byte(name)...)
}

func (e *Engine) loadCatalog() (*catalog, error) {
	c := &catalog{databases: map[string]*database{}, offers: map[string]*offer{}}
	if err := e.loadOffers(c); err != nil {
		return nil, err
	}
	err := e.each([]byte{spaceDatabase}, func(key, stored []byte) error {
		var s storedDefinition
		if err := json.Unmarshal(stored, &s); err != nil {
			return fmt.Errorf("embedded: the definition of a database is damaged: %w", err)
		}
		d := newDatabase(string(key[1:]), s)
		c.databases[d.name] = d
		return e.loadContainers(d)
	})
	return c, err
}

func (e *Engine) loadContainers(d *database) error {
	return e.each(definitionKey(d.number, ""), func(_, stored []byte) error {
		var s storedDefinition
		if err := json.Unmarshal(stored, &s); err != nil {
			return fmt.Errorf("embedded: the definition of a container is damaged: %w", err)
		}
		c, err := e.newContainer(d, s)
		if err != nil {
			return err
		}
		for _, r := range c.ranges {
			if err := e.loadNumbers(c, r); err != nil {
				return err
			}
		}
		d.containers[c.name] = c
		if s.Layout != layout {
			if err := e.rebuild(c); err != nil {
				return err
			}
		}
		return e.loadScripts(c)
	})
}

// each calls f with every key that begins with prefix, and its value.
func (e *Engine) each(prefix []byte, f func(key, stored []byte) error) error {
	return each(e.db, prefix, f)
}

func each(reader pebble.Reader, prefix []byte, f func(key, stored []byte) error) error {
	it, err := reader.NewIter(within(prefix))
	if err != nil {
		return err
	}
	for it.First(); it.Valid(); it.Next() {
		if err := f(it.Key(), it.Value()); err != nil {
			return errors.Join(err, it.Close())
		}
	}
	return it.Close()
}

func newDatabase(name string, s storedDefinition) *database {
	return &database{
		number:     s.Number,
		name:       name,
		rid:        databaseRID(s.Number),
		resource:   append(json.RawMessage(nil), s.Resource...),
		containers: map[string]*container{},
	}
}

func (e *Engine) newContainer(d *database, s storedDefinition) (*container, error) {
	resource, err := value.Parse(s.Resource)
	if err != nil {
		return nil, fmt.Errorf("embedded: the definition of a container is damaged: %w", err)
	}
	definition, err := parseDefinition(resource)
	if err != nil {
		return nil, err
	}
	keyPath, err := parsePath(definition.PartitionKey.Paths[0])
	if err != nil {
		return nil, err
	}
	indexes, err := indexesOf(definition)
	if err != nil {
		return nil, err
	}
	ranges, err := newRangesSplit(max(1, s.Ranges), s.Splits)
	if err != nil {
		return nil, err
	}
	return &container{
		databaseNumber: d.number,
		databaseName:   d.name,
		number:         s.Number,
		name:           definition.ID,
		link:           "dbs/" + url.PathEscape(d.name) + "/colls/" + url.PathEscape(definition.ID),
		rid:            containerRID(d.number, s.Number),
		resource:       append(json.RawMessage(nil), s.Resource...),
		definition:     definition,
		keyPath:        keyPath,
		indexes:        indexes,
		excluded:       definition.excludedPaths(),
		ranges:         ranges,
		splits:         s.Splits,
		scripts:        map[scriptName]*storedScript{},
		watch:          e.watchersOf(d.name, definition.ID),
	}, nil
}

// database finds a database by its name or its resource id.
func (e *Engine) database(name string) (*database, error) {
	databases := e.catalog.Load().databases
	if d, ok := databases[name]; ok {
		return d, nil
	}
	for _, d := range databases {
		if d.rid == name {
			return d, nil
		}
	}
	return nil, errOwnerNotFound
}

// container finds a container by names or resource ids.
func (e *Engine) container(databaseName, name string) (*container, error) {
	d, err := e.database(databaseName)
	if err != nil {
		return nil, err
	}
	if c, ok := d.containers[name]; ok {
		return c, nil
	}
	for _, c := range d.containers {
		if c.rid == name {
			return c, nil
		}
	}
	return nil, errOwnerNotFound
}

// changeCatalog replaces the catalog by a copy that change has worked on: change may set databases, but changes no
// database that is there. What it puts into the batch is on disk before the new catalog is seen.
func (e *Engine) changeCatalog(change func(next *catalog, batch *pebble.Batch) error) error {
	e.catalogMu.Lock()
	defer e.catalogMu.Unlock()
	now := e.catalog.Load()
	next := &catalog{databases: maps.Clone(now.databases), offers: maps.Clone(now.offers)}
	batch := e.db.NewBatch()
	defer batch.Close()
	err := change(next, batch)
	if err == nil {
		err = e.onDisk(batch.Commit(pebble.Sync))
	}
	if err != nil {
		for _, c := range next.dropped {
			c.setDropped(false)
		}
		return err
	}
	e.catalog.Store(next)
	return nil
}

// with gives a copy of the database in which one container is replaced, or removed where c is nil.
func (d *database) with(name string, c *container) *database {
	next := *d
	next.containers = maps.Clone(d.containers)
	if c == nil {
		delete(next.containers, name)
	} else {
		next.containers[name] = c
	}
	return &next
}

// nextNumber gives a number for a database or container, and the next one for its offer, in the batch that makes them.
func (e *Engine) nextNumber(batch *pebble.Batch) (uint32, error) {
	last, err := e.meta(metaNumber)
	if err != nil {
		return 0, err
	}
	setMeta(batch, metaNumber, last+2)
	return uint32(last + 1), nil
}

// createDatabase makes a database; where t is given, with a throughput that its containers share.
func (e *Engine) createDatabase(body []byte, t *throughput) (*database, error) {
	resource, name, err := parseResource(body)
	if err != nil {
		return nil, err
	}
	var d *database
	err = e.changeCatalog(func(next *catalog, batch *pebble.Batch) error {
		if _, ok := next.databases[name]; ok {
			return errConflict
		}
		number, err := e.nextNumber(batch)
		if err != nil {
			return err
		}
		rid := databaseRID(number)
		s := storedDefinition{
			Number: number,
			Resource: e.stamp(resource, rid, "dbs/"+rid+"/",
				[]string{"_colls", "_users"}, []value.Value{value.String("colls/"), value.String("users/")}),
		}
		d = newDatabase(name, s)
		next.databases[name] = d
		if t != nil {
			if err := e.setOffer(next, batch, newOfferRID(number+1), rid, "dbs/"+rid+"/", *t); err != nil {
				return err
			}
		}
		return setDefinition(batch, databaseKey(name), s)
	})
	return d, err
}

// deleteDatabase deletes a database and everything in it. Errors: 404, 412.
func (e *Engine) deleteDatabase(name, ifMatch string) error {
	return e.changeCatalog(func(next *catalog, batch *pebble.Batch) error {
		d, ok := next.databases[name]
		if !ok {
			return errResourceNotFound
		}
		if err := matchDefinition(d.resource, ifMatch); err != nil {
			return err
		}
		for _, c := range d.containers {
			dropContainer(next, batch, c)
		}
		dropOffer(next, batch, d.rid)
		delete(next.databases, name)
		return batch.Delete(databaseKey(name), nil)
	})
}

// createContainer makes a container, with a throughput of its own where t is not zero.
func (e *Engine) createContainer(databaseName string, body []byte, t throughput) (*container, error) {
	resource, name, err := parseResource(body)
	if err != nil {
		return nil, err
	}
	definition, err := parseDefinition(resource)
	if err != nil {
		return nil, err
	}
	resource = withDefaults(resource)
	var c *container
	err = e.changeCatalog(func(next *catalog, batch *pebble.Batch) error {
		d, ok := next.databases[databaseName]
		if !ok {
			return errOwnerNotFound
		}
		if _, ok := d.containers[name]; ok {
			return errConflict
		}
		number, err := e.nextNumber(batch)
		if err != nil {
			return err
		}
		s := storedDefinition{Number: number, Ranges: definition.ranges(t), Layout: layout, Resource: e.stampContainer(d.number, number, resource)}
		if c, err = e.newContainer(d, s); err != nil {
			return err
		}
		next.databases[d.name] = d.with(name, c)
		if t.most() > 0 {
			if err := e.setOffer(next, batch, newOfferRID(number+1), c.rid, c.self(), t); err != nil {
				return err
			}
		}
		return setDefinition(batch, definitionKey(d.number, name), s)
	})
	return c, err
}

// replaceContainer changes what of a definition can change: not the name and not the partition key. Where that changes
// which items expire, or the indexes, it returns when all items are as the new definition says. ifMatch is an etag, or
// empty. Errors: 400, 404, 412.
func (e *Engine) replaceContainer(databaseName, name, ifMatch string, body []byte) (*container, error) {
	resource, newName, err := parseResource(body)
	if err != nil {
		return nil, err
	}
	if _, err := parseDefinition(resource); err != nil {
		return nil, err
	}
	resource = withDefaults(resource)
	var c *container
	err = e.changeCatalog(func(next *catalog, batch *pebble.Batch) error {
		d := next.databases[databaseName]
		if d == nil || d.containers[name] == nil {
			return errOwnerNotFound
		}
		old := d.containers[name]
		if err := matchDefinition(old.resource, ifMatch); err != nil {
			return err
		}
		s := old.stored()
		s.Resource = e.stampContainer(d.number, old.number, resource)
		changed, err := e.newContainer(d, s)
		if err != nil {
			return err
		}
		changed.built = old.built
		switch {
		case newName != name:
			return badRequest("A container cannot be renamed.")
		case !reflect.DeepEqual(changed.definition.PartitionKey, old.definition.PartitionKey):
			return badRequest("The partition key of a container cannot be changed.")
		case !sameIndexes(changed.indexes, old.indexes) || !reflect.DeepEqual(changed.definition.DefaultTTL, old.definition.DefaultTTL):
			if err := e.redefine(old, changed); err != nil {
				return err
			}
		}
		changed.ranges, changed.scripts = old.ranges, old.scripts
		c = changed
		next.databases[d.name] = d.with(name, c)
		return setDefinition(batch, definitionKey(d.number, name), c.stored())
	})
	return c, err
}

// matchDefinition holds a definition to the header If-Match; empty and * ask for nothing. Error: 412.
func matchDefinition(resource json.RawMessage, ifMatch string) error {
	return matchETag(&record{text: resource}, ifMatch)
}

// deleteContainer deletes a container and everything in it. Errors: 404, 412.
func (e *Engine) deleteContainer(databaseName, name, ifMatch string) error {
	return e.changeCatalog(func(next *catalog, batch *pebble.Batch) error {
		d := next.databases[databaseName]
		if d == nil || d.containers[name] == nil {
			return errResourceNotFound
		}
		if err := matchDefinition(d.containers[name].resource, ifMatch); err != nil {
			return err
		}
		dropContainer(next, batch, d.containers[name])
		next.databases[d.name] = d.with(name, nil)
		return nil
	})
}

// dropContainer deletes all keys of a container, and its offer. From now on nothing is written to it, so that nothing comes
// behind the deletion.
func dropContainer(next *catalog, batch *pebble.Batch, c *container) {
	c.setDropped(true)
	next.dropped = append(next.dropped, c)
	dropOffer(next, batch, c.rid)
	batch.Delete(definitionKey(c.databaseNumber, c.name), nil)
	for _, space := range []byte{spaceScript, spaceCeiling, spaceItem, spaceFeed, spaceIndex, spaceExpiry} {
		prefix := containerKey(space, c.number)
		deleteWithin(batch, prefix)
	}
}

// setDropped decides whether the container may be written to.
func (c *container) setDropped(dropped bool) {
	for _, r := range c.ranges {
		r.mu.Lock()
		r.dropped = dropped
		r.mu.Unlock()
	}
}

func setDefinition(batch *pebble.Batch, key []byte, s storedDefinition) error {
	stored, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return batch.Set(key, stored, nil)
}

// parseResource reads the definition of a database, container or script, without system properties.
func parseResource(body []byte) (resource value.Value, name string, err error) {
	parsed, err := value.Parse(body)
	if err != nil {
		return parsed, "", badRequest("The body is not JSON: %v.", err)
	}
	if parsed.Kind() != value.KindObject {
		return parsed, "", badRequest("The body must be a JSON object.")
	}
	name, _ = parsed.Get("id").AsString()
	return withoutSystem(parsed), name, checkName(name)
}

// stamp gives a definition its system properties, and others that the service adds.
func (e *Engine) stamp(resource value.Value, rid, self string, names []string, values []value.Value) json.RawMessage {
	for i, name := range names {
		resource = resource.With(name, values[i])
	}
	resource = resource.With("_rid", value.String(rid)).
		With("_self", value.String(self)).
		With("_etag", value.String(e.newETag())).
		With("_ts", value.Number(float64(e.options.Now().Unix())))
	return value.Append(nil, resource)
}

func (e *Engine) stampContainer(database, container uint32, resource value.Value) json.RawMessage {
	rid := containerRID(database, container)
	return e.stamp(resource, rid, "dbs/"+databaseRID(database)+"/colls/"+rid+"/",
		[]string{"_docs", "_sprocs", "_triggers", "_udfs", "_conflicts"},
		[]value.Value{value.String("docs/"), value.String("sprocs/"), value.String("triggers/"), value.String("udfs/"), value.String("conflicts/")})
}

// newETag gives an etag that no resource ever had, with its quotes.
func (e *Engine) newETag() string {
	serial := e.nextSerial()
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], serial)
	return fmt.Sprintf("\"%x-%x-%x-0000-000000000000\"", b[:4], b[4:6], b[6:])
}
