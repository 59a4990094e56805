package engine

import (
	"net/http"
	"slices"
	"strings"
)

// versions are the versions of the protocol (azure-cosmos-dotnet-v3, Microsoft.Azure.Cosmos/src/
// direct/HttpConstants.cs of commit c919daa2).
var versions = map[string]bool{
	"2014-08-21": true, "2015-04-08": true, "2015-06-03": true, "2015-08-06": true, "2015-12-16": true, "2016-05-30": true,
	"2016-07-11": true, "2016-11-14": true, "2017-01-19": true, "2017-02-22": true, "2017-05-03": true, "2017-11-15": true,
	"2018-06-18": true, "2018-08-31": true, "2018-09-17": true, "2018-12-31": true, "2019-10-14": true, "2020-07-15": true,
	"2020-11-05": true, "2024-05-15": true, "2024-06-06": true,
}

// Values of headers, in lower case.
var (
	indexingDirectives   = []string{"default", "include", "exclude"}
	serializationFormats = []string{"jsontext", "cosmosbinary", "hybridrow"}
)

// checkHeaders rejects unknown values of headers that otherwise have no effect (dotnet-v3,
// EmulatorTests/HeadersValidationTests.cs), and a consistency level that is stronger than the
// account's (learn.microsoft.com/azure/cosmos-db/nosql/how-to-manage-consistency; the text is in
// OrleansContrib/Orleans.CosmosDB#15). The format of the header
// x-ms-cosmos-supported-serialization-formats is not checked: over HTTP, the service takes every
// unknown value for text. Error: 400.
func (r *request) checkHeaders() error {
	if version, ok := r.Header["X-Ms-Version"]; ok && !versions[version[0]] {
		return badRequest("Invalid API version. Ensure a valid x-ms-version header value is passed. Please update to the latest version of Azure Cosmos DB SDK.")
	}
	if err := checkValue(r.Header, "X-Ms-Indexing-Directive", indexingDirectives); err != nil {
		return err
	}
	if err := checkValue(r.Header, "X-Ms-Documentdb-Content-Serialization-Format", serializationFormats); err != nil {
		return err
	}
	if level, ok := r.Header["X-Ms-Consistency-Level"]; ok {
		return r.checkConsistency(level[0])
	}
	return nil
}

// checkValue checks that a header, named in canonical form, is missing or has one of the values.
func checkValue(header http.Header, name string, values []string) error {
	given, ok := header[name]
	if !ok || slices.Contains(values, strings.ToLower(given[0])) {
		return nil
	}
	return badRequest("The value '%s' specified for the header '%s' is invalid. It must be one of: %s.", given[0], strings.ToLower(name), strings.Join(values, ", "))
}

// checkConsistency checks the consistency level that a request asks for.
func (r *request) checkConsistency(name string) error {
	levels := []Consistency{Strong, BoundedStaleness, Session, ConsistentPrefix, Eventual}
	isLevel := func(name string) func(Consistency) bool {
		return func(c Consistency) bool { return strings.EqualFold(string(c), name) }
	}
	account := r.engine.Consistency()
	asked := slices.IndexFunc(levels, isLevel(name))
	if asked < 0 {
		return badRequest("The value '%s' specified for the header 'x-ms-consistency-level' is invalid.", name)
	}
	if asked < slices.Index(levels, account) {
		return badRequest("ConsistencyLevel %s specified in the request is invalid when service is configured with consistency level %s. Ensure the request consistency level is not stronger than the service consistency level.", name, account)
	}
	return nil
}
