package loopback_test

import (
	"testing"

	"cosmosblog/internal/loopback"
)

func TestIs(t *testing.T) {
	for host, want := range map[string]bool{
		"127.0.0.1:8080": true, "127.0.0.1": true, "127.8.8.8:80": true, "localhost:8080": true, "LOCALHOST": true,
		"[::1]:8080": true, "[::1]": true, "::1": true,
		"": false, ":8080": false, "0.0.0.0:8080": false, "[::]:8080": false, "192.168.0.1:8080": false,
		"localhost.example:80": false, "example.localhost": false, "127.0.0.1.example": false,
	} {
		if got := loopback.Is(host); got != want {
			t.Errorf("%q: %v, want %v", host, got, want)
		}
	}
}
