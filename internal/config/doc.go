// Package config is what can be configured: one table of settings, from which the flags, the environment variables, the
// help texts and the README's table come, and the rules that settings have to keep together.
package config
