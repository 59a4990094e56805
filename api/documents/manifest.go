package documents

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"

	"cosmosblog/blog"
)

// Manifest has the texts of an application's documents, by id. The ids are those of the file, and
// `sha256:` with the hash of each text (GraphQL over HTTP, "documentId").
type Manifest map[string]string

// HashPrefix begins the ids that are hashes.
const HashPrefix = "sha256:"

// HashID returns the id of a text that is its hash.
func HashID(text string) string {
	sum := sha256.Sum256([]byte(text))
	return HashPrefix + hex.EncodeToString(sum[:])
}

// ParseManifest parses a manifest as graphql-codegen and Relay write it, an object of texts by id,
// or as Apollo's generate-persisted-query-manifest does. Error: if it has another form, or no
// document, or if two documents of Apollo's form have one id.
func ParseManifest(text []byte) (Manifest, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, fmt.Errorf("a manifest of documents is a JSON object: %w", err)
	}
	m := Manifest{}
	if _, isApollo := members["format"]; isApollo {
		if err := m.addApollo(text); err != nil {
			return nil, err
		}
	} else {
		for id, member := range members {
			var document string
			if err := json.Unmarshal(member, &document); err != nil {
				return nil, fmt.Errorf("the document %s is not a text", id)
			}
			m[id] = document
		}
	}
	if len(m) == 0 {
		return nil, errors.New("the manifest has no document")
	}
	for _, document := range slices.Collect(maps.Values(m)) {
		m[HashID(document)] = document
	}
	return m, nil
}

// apolloFormat is the only format of Apollo's manifests.
const apolloFormat = "apollo-persisted-query-manifest"

func (m Manifest) addApollo(text []byte) error {
	var manifest struct {
		Format     string
		Version    int
		Operations []struct{ ID, Body string }
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		return err
	}
	if manifest.Format != apolloFormat || manifest.Version != 1 {
		return fmt.Errorf("the manifest has the format %q and the version %d, and not %q and 1", manifest.Format, manifest.Version, apolloFormat)
	}
	for _, operation := range manifest.Operations {
		if _, ok := m[operation.ID]; ok {
			return fmt.Errorf("two documents have the id %s", operation.ID)
		}
		m[operation.ID] = operation.Body
	}
	return nil
}

// Load keeps the documents of a manifest for ever, validated and priced. Afterwards, Text finds
// them. If two manifests have an id, the latter's text replaces the former's. Load must be called
// before all other methods. Error: if a document is invalid or has no operation, or if checksPrices
// is true and a document costs more than the limit with the variables that make it cheapest. It
// names the document.
func (d *Documents) Load(m Manifest, checksPrices bool) error {
	maps.Copy(d.texts, m)
	ids := slices.Sorted(maps.Keys(m))
	slices.SortStableFunc(ids, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	for _, id := range ids {
		text := m[id]
		if d.isListed(text) { // by an id before
			continue
		}
		if err := d.pin(text, checksPrices); err != nil {
			return manifestError(id, text, err)
		}
	}
	return nil
}

// RejectOthers makes Read reject all documents that Load has not kept. It must be called before
// Read.
func (d *Documents) RejectOthers() { d.only = true }

// rank orders ids, so that an error names a document by the id of its file, and not by its hash.
func rank(id string) int {
	if strings.HasPrefix(id, HashPrefix) {
		return 1
	}
	return 0
}

// pin keeps a document with each of its operations, and with the one that needs no name.
func (d *Documents) pin(text string, checksPrices bool) error {
	document, tokens, errs := d.parse(text)
	if errs == nil && len(document.Operations) == 0 {
		return errors.New("it has no operation")
	}
	if errs == nil {
		errs = d.check(document)
	}
	if len(errs) > 0 {
		return errs[0]
	}
	names := []string{""}
	for _, operation := range document.Operations {
		names = append(names, operation.Name)
	}
	for _, name := range names {
		known := d.prepare(documentKey{text, name}, document, tokens)
		if known.Operation != nil && checksPrices {
			if err := d.checkLeastPrice(known); err != nil {
				return err
			}
		}
		d.pinned[known.key] = known
	}
	return nil
}

// manifestError names a document by its id and its beginning.
func manifestError(id, text string, err error) error {
	beginning := []rune(strings.Join(strings.Fields(text), " "))
	message := err.Error()
	if e, ok := errors.AsType[*gqlerror.Error](err); ok {
		message = e.Message
		if len(e.Locations) > 0 {
			message = fmt.Sprintf("%s (line %d, column %d)", message, e.Locations[0].Line, e.Locations[0].Column)
		}
	}
	return fmt.Errorf("the document %s (%s…): %s", id, string(beginning[:min(len(beginning), 40)]), message)
}

// checkLeastPrice returns an error if an operation costs more than the limit even with the least
// variables: its defaults, and otherwise lists without elements.
func (d *Documents) checkLeastPrice(known *Document) error {
	least := map[string]any{}
	for _, v := range known.Operation.VariableDefinitions {
		if v.DefaultValue == nil && (v.Type.NonNull || v.Type.NamedType == "Int") {
			least[v.Variable] = d.leastValue(v.Type)
		}
	}
	variables, err := validator.VariableValues(d.schema, known.Operation, least)
	if err != nil {
		return nil // a scalar with a form of its own: each request is priced with its variables
	}
	operation := &graphql.OperationContext{Doc: known.AST, Operation: known.Operation, Variables: variables}
	if err := d.prices.Check(operation, known.price); err != nil {
		return err
	}
	return nil
}

// leastValue returns the value of a type that is not null with the fewest elements.
func (d *Documents) leastValue(t *ast.Type) any {
	if t.Elem != nil {
		return []any{}
	}
	definition := d.schema.Types[t.NamedType]
	switch {
	case definition.Kind == ast.InputObject:
		object := map[string]any{}
		for _, field := range definition.Fields {
			if field.Type.NonNull && field.DefaultValue == nil {
				object[field.Name] = d.leastValue(field.Type)
			}
		}
		return object
	case definition.Kind == ast.Enum:
		return definition.EnumValues[0].Name
	case t.NamedType == "Int", t.NamedType == "Float":
		return json.Number("0") // as in the JSON of a request
	case t.NamedType == "Boolean":
		return false
	}
	return ""
}

// Text returns the text of a document of the manifest.
func (d *Documents) Text(id string) (text string, ok bool) {
	text, ok = d.texts[id]
	return text, ok
}

// isListed reports whether a query is a document of the manifest.
func (d *Documents) isListed(query string) bool {
	_, ok := d.pinned[documentKey{query, ""}]
	return ok
}

var errNotListed = blog.Errorf(blog.Forbidden, "This server executes only the documents of its manifest. Send `documentId`, or the text of one of them.")
