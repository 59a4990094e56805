// Package guard has no code. Its folder holds what protects a server and its database from clients:
// package auth knows who they are, proxy where their requests come from, price what an operation
// can cost, budget what a client has spent, memorypool what transfers take, httpserver how many
// connections there are, and limits everything else. Package request carries that through the
// stages of a request.
//
// This folder is not for other modules: it may change in any version.
package guard
