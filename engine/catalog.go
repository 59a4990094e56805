package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"

	"github.com/cockroachdb/pebble/v2"

	"cosmosblog/engine/value"
)

// catalog holds all definitions. It is immutable and replaced as a whole, so requests read it
// without a lock.
type catalog struct {
	databases map[string]*database
	offers    map[string]*offer // by their resource ids
	dropped   []*container      // by the change that created this catalog
}

// storedDefinition is the stored form of a database or container.
type storedDefinition struct {
	Number   uint32          `json:"number"`
	Ranges   int             `json:"ranges,omitempty"` // the initial number of physical ranges
	Splits   []split         `json:"splits,omitempty"`
	Layout   int             `json:"layout,omitempty"` // see layoutVersion
	Quotes   bool            `json:"quotes,omitempty"` // names in quotes may have slashes
	Resource json.RawMessage `json:"resource"`
}

// stored returns the stored form of the container's definition.
func (c *container) stored() storedDefinition {
	return storedDefinition{
		Number:   c.number,
		Ranges:   c.initialRanges(),
		Splits:   c.splits,
		Layout:   layoutVersion,
		Quotes:   !c.definition.splitsQuotes,
		Resource: c.resource,
	}
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
			return fmt.Errorf("engine: the definition of a database is damaged: %w", err)
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
			return fmt.Errorf("engine: the definition of a container is damaged: %w", err)
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
		if s.Layout != layoutVersion {
			if err := e.rebuild(c); err != nil {
				return err
			}
		}
		return e.loadScripts(c)
	})
}

// each calls f with every key that begins with prefix, and with its value.
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
		return nil, fmt.Errorf("engine: the definition of a container is damaged: %w", err)
	}
	definition, err := readDefinition(resource)
	if err != nil {
		return nil, err
	}
	definition.splitsQuotes = !s.Quotes
	keyPath, err := definition.parsePath(definition.PartitionKey.Paths[0])
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
		indexes:        indexesOf(definition),
		excluded:       definition.excludedPaths(),
		ranges:         ranges,
		splits:         s.Splits,
		scripts:        map[scriptName]*storedScript{},
		watch:          e.watchersOf(d.name, definition.ID),
	}, nil
}

// database finds a database by name or resource id. It returns errOwnerNotFound if there is
// none.
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

// container finds a container by names or resource ids. It returns errOwnerNotFound if there is
// none.
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

// changeCatalog replaces the catalog with a modified copy. The function change may set databases
// in next, but must not modify existing ones. The batch is on disk before the new catalog
// becomes visible.
func (e *Engine) changeCatalog(change func(next *catalog, batch *pebble.Batch) error) error {
	e.catalogMu.Lock()
	defer e.catalogMu.Unlock()
	defer e.counts.catalog.Add(1) // also after a failure, which may have removed expired items
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

// with returns a copy of the database in which one container is replaced, or removed if c is
// nil.
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

// nextNumber allocates a number for a database or container; the number after it is for its
// offer. The caller's batch makes the allocation durable.
func (e *Engine) nextNumber(batch *pebble.Batch) (uint32, error) {
	last, err := e.meta(metaNumber)
	if err != nil {
		return 0, err
	}
	if last == 0 {
		last = uint64(e.options.NumbersAfter)
	}
	setMeta(batch, metaNumber, last+2)
	return uint32(last + 1), nil
}

func setDefinition(batch *pebble.Batch, key []byte, s storedDefinition) error {
	stored, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return batch.Set(key, stored, nil)
}
