package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Setting is one thing that can be configured, by a flag, by an environment variable, or by both; the flag wins.
type Setting struct {
	Commands []string
	Flag     string // without dashes; empty where there is none
	Env      string // empty where there is none
	Default  string
	Meaning  string
	field    func(*Config) any // a *string, a *bool, an *int or a *time.Duration
}

// Kind says what the setting's value is: "bool", "int", "duration" or "string".
func (s Setting) Kind() string {
	switch s.field(new(Config)).(type) {
	case *bool:
		return "bool"
	case *int:
		return "int"
	case *time.Duration:
		return "duration"
	}
	return "string"
}

// Set puts the setting's value into c. Error: a sentence where text is no value of it.
func (s Setting) Set(c *Config, text string) error {
	switch field := s.field(c).(type) {
	case *string:
		*field = text
	case *bool:
		on, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%s is a switch: true or false, not %q", s.name(), text)
		}
		*field = on
	case *int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("%s is a number, not %q", s.name(), text)
		}
		*field = n
	case *time.Duration:
		d, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("%s is a duration like 5s or 500ms, not %q", s.name(), text)
		}
		*field = d
	}
	return nil
}

// Get gives the setting's value in c as Set takes it.
func (s Setting) Get(c *Config) string {
	switch field := s.field(c).(type) {
	case *string:
		return *field
	case *bool:
		return strconv.FormatBool(*field)
	case *int:
		return strconv.Itoa(*field)
	case *time.Duration:
		return field.String()
	}
	return ""
}

func (s Setting) name() string {
	if s.Flag == "" {
		return s.Env
	}
	return "--" + s.Flag
}

// Of lists the settings of a command.
func Of(command string) []Setting {
	var of []Setting
	for _, s := range all {
		if slices.Contains(s.Commands, command) {
			of = append(of, s)
		}
	}
	return of
}

// FromEnvironment sets what the environment has a value for, but leaves out the flags that isGiven tells of. lookup is
// os.LookupEnv. An empty variable counts as none.
func FromEnvironment(c *Config, command string, lookup func(string) (string, bool), isGiven func(flag string) bool) error {
	for _, s := range Of(command) {
		text, ok := lookup(s.Env)
		if s.Env == "" || !ok || text == "" || s.Flag != "" && isGiven(s.Flag) {
			continue
		}
		if err := s.Set(c, text); err != nil {
			return fmt.Errorf("the environment variable %s: %w", s.Env, err)
		}
	}
	return nil
}

// Markdown gives the table of all settings, for the README.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| Flag | Environment | Default | Commands | Meaning |\n|---|---|---|---|---|\n")
	for _, s := range all {
		flag := s.Flag
		if flag != "" {
			flag = "--" + flag
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", code(flag), code(s.Env), code(s.Default), strings.Join(s.Commands, ", "), s.Meaning)
	}
	return b.String()
}

func code(text string) string {
	if text == "" {
		return "–"
	}
	return "`" + text + "`"
}
