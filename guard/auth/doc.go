// Package auth verifies bearer tokens and carries the token's account in the context of a
// request. An account is an issuer and a subject. The users of accounts belong to package
// store.
//
// There is one Verifier for each way to start a server. In development, a LocalKey in the data
// folder signs and verifies tokens. In production, an Issuer verifies the tokens of an OpenID
// Connect issuer with the keys that the issuer publishes. A production server without an issuer
// has NoIssuer. Only the wiring depends on which one is in use.
package auth
