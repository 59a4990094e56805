// Package auth tells who someone is: it verifies bearer tokens and carries the account that they speak for in the
// context of a request. It knows nothing of users, which belong to the store: an account is an issuer and a subject.
//
// In development tokens are signed by a LocalKey, which lives in the data folder. In production an Issuer takes its place,
// for the tokens of an OpenID Connect issuer whose keys it reads; nothing outside this package and the wiring depends on
// which of them is in use.
package auth
