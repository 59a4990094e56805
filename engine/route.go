package engine

import "net/http"

type handler func(*request) (*response, error)

// chargedTwice returns a handler whose responses are charged twice as much.
func (h handler) chargedTwice() handler {
	return func(r *request) (*response, error) {
		response, err := h(r)
		if response != nil {
			response.charge *= 2
		}
		return response, err
	}
}

// route returns the handler of a request. Errors: 404, 405.
func route(method string, pattern []byte) (handler, error) {
	methods, ok := routes[string(pattern)]
	if !ok {
		return nil, errResourceNotFound
	}
	h, ok := methods[method]
	if !ok {
		return nil, errorf(http.StatusMethodNotAllowed, 0, "The requested verb is not supported.")
	}
	return h, nil
}

var routes map[string]map[string]handler

func init() {
	routes = map[string]map[string]handler{
		"":            {"GET": (*request).readAccount},
		"offers":      {"GET": (*request).listOffers, "POST": (*request).queryOffers},
		"offers/*":    {"GET": (*request).readOffer, "PUT": (*request).replaceOffer},
		"dbs":         {"GET": (*request).listDatabases, "POST": (*request).postDatabases},
		"dbs/*":       {"GET": (*request).readDatabase, "DELETE": (*request).deleteDatabase},
		"dbs/*/colls": {"GET": (*request).listContainers, "POST": (*request).postContainers},
		"dbs/*/colls/*": {
			"GET":    (*request).readContainer,
			"PUT":    (*request).replaceContainer,
			"DELETE": (*request).deleteContainer,
		},
		"dbs/*/colls/*/pkranges": {"GET": (*request).readRanges},
		"dbs/*/colls/*/docs":     {"GET": (*request).readFeed, "POST": (*request).postItems},
		"dbs/*/colls/*/docs/*": {
			"GET":    (*request).readItem,
			"PUT":    (*request).replaceItem,
			"PATCH":  (*request).patchItem,
			"DELETE": (*request).deleteItem,
		},
		"dbs/*/colls/*/sprocs": {"GET": (*request).listScripts, "POST": (*request).createScript},
		"dbs/*/colls/*/sprocs/*": {
			"GET":    (*request).readScript,
			"PUT":    (*request).replaceScript,
			"DELETE": (*request).deleteScript,
			"POST":   (*request).executeProcedure,
		},
		"dbs/*/colls/*/triggers": {"GET": (*request).listScripts, "POST": (*request).createScript},
		"dbs/*/colls/*/triggers/*": {
			"GET":    (*request).readScript,
			"PUT":    (*request).replaceScript,
			"DELETE": (*request).deleteScript,
		},
	}
}
