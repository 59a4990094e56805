package engine

import (
	"encoding/json"
	"reflect"

	"github.com/cockroachdb/pebble/v2"
)

// createDatabase creates a database. If t is not zero, its containers share that throughput.
func (e *Engine) createDatabase(body []byte, t throughput) (*database, error) {
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
		s := storedDefinition{Number: number, Resource: e.stamp(resource, rid, "dbs/"+rid+"/", "colls", "users")}
		d = newDatabase(name, s)
		next.databases[name] = d
		if t.limit() > 0 {
			if err := e.setOffer(next, batch, newOfferRID(number+1), rid, "dbs/"+rid+"/", t); err != nil {
				return err
			}
		}
		return setDefinition(batch, databaseKey(name), s)
	})
	return d, err
}

// deleteDatabase deletes a database and its contents. Errors: 404, 412.
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

// createContainer creates a container, with its own throughput if t is not zero.
func (e *Engine) createContainer(databaseName string, body []byte, t throughput) (*container, error) {
	resource, name, err := parseResource(body)
	if err != nil {
		return nil, err
	}
	definition, err := parseDefinition(resource)
	if err != nil {
		return nil, err
	}
	if err := checkKeyPath(definition.PartitionKey.Paths[0]); err != nil {
		return nil, err // a replaced definition has the path of before, which may be older than this rule
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
		s := storedDefinition{
			Number:   number,
			Ranges:   definition.ranges(t),
			Layout:   layoutVersion,
			Quotes:   true,
			Resource: e.stampContainer(d.number, number, resource),
		}
		if c, err = e.newContainer(d, s); err != nil {
			return err
		}
		next.databases[d.name] = d.with(name, c)
		if t.limit() > 0 {
			if err := e.setOffer(next, batch, newOfferRID(number+1), c.rid, c.self(), t); err != nil {
				return err
			}
		}
		return setDefinition(batch, definitionKey(d.number, name), s)
	})
	return c, err
}

// replaceContainer changes a container's definition, except its name and partition key. If the
// change affects expiry or indexes, it returns after all items follow the new definition.
// ifMatch is an etag, or empty. Errors: 400, 404, 412.
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
		changed.generation = old.generation
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

// matchDefinition compares a definition's etag with the header If-Match. An empty header and *
// match every etag. Error: 412.
func matchDefinition(resource json.RawMessage, ifMatch string) error {
	return matchETag(&record{text: resource}, ifMatch)
}

// deleteContainer deletes a container and its contents. Errors: 404, 412.
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

// dropContainer deletes all keys of a container, and its offer. It first blocks writes to the
// container, so that no write follows the deletion.
func dropContainer(next *catalog, batch *pebble.Batch, c *container) {
	c.setDropped(true)
	next.dropped = append(next.dropped, c)
	dropOffer(next, batch, c.rid)
	batch.Delete(definitionKey(c.databaseNumber, c.name), nil)
	for _, space := range containerSpaces {
		deleteWithin(batch, containerKey(space, c.number))
	}
}

// setDropped blocks or permits writes to the container.
func (c *container) setDropped(dropped bool) {
	for _, r := range c.ranges {
		r.mu.Lock()
		r.dropped = dropped
		r.mu.Unlock()
	}
}
