// Package config defines every setting of every command. One table of settings provides the
// flags, the environment variables, the help texts and docs/settings.md. Config.Check validates
// the values.
package config
