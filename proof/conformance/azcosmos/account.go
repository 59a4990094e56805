package main

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http/httptest"

	"cosmosblog/cli/config"
	"cosmosblog/cosmostest"
)

const address = "127.0.0.1:8081"

// serve serves an account in memory over https at the address and with the key that the tests
// contain. entra makes the account accept tokens. The caller closes the server, and then the
// account, which checks its data.
func serve(certificate tls.Certificate, entra bool) (*cosmostest.Account, *httptest.Server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, nil, fmt.Errorf("the tests need an account on %s, but it cannot listen there: %w", address, err)
	}
	account, err := cosmostest.Open(cosmostest.Options{Key: config.EmulatorKey, Entra: entra})
	if err != nil {
		listener.Close()
		return nil, nil, err
	}
	server := httptest.NewUnstartedServer(account)
	server.Listener.Close()
	server.Listener, server.TLS = listener, &tls.Config{Certificates: []tls.Certificate{certificate}}
	server.StartTLS()
	return account, server, nil
}
