package config

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Setting is one configurable value. A flag, an environment variable or both can set it. The flag
// takes precedence.
type Setting struct {
	Commands []string          // commands that read the setting
	Flag     string            // without dashes; empty if there is no flag
	Env      string            // empty if there is no environment variable
	Default  string            // in the form that Set parses
	Meaning  string            // help text, in Markdown
	field    func(*Config) any // returns a *string, *bool, *int or *time.Duration
}

// Kind returns the type of the setting's value: "bool", "int", "duration" or "string".
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

// Set parses text and stores the value in c. It returns an error for the operator if text is
// not a value of the setting's kind.
func (s Setting) Set(c *Config, text string) error {
	switch field := s.field(c).(type) {
	case *string:
		*field = text
	case *bool:
		on, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%s must be true or false, not %q", s.name(), text)
		}
		*field = on
	case *int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("%s must be a number, not %q", s.name(), text)
		}
		*field = n
	case *time.Duration:
		d, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("%s must be a duration such as 5s or 500ms, not %q", s.name(), text)
		}
		*field = d
	}
	return nil
}

// Get formats the setting's value in c. Set parses the result.
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

// name returns the setting's name for error messages.
func (s Setting) name() string {
	if s.Flag == "" {
		return s.Env
	}
	return "--" + s.Flag
}

// Of returns the settings of a command, in the order of the table.
func Of(command string) []Setting {
	var of []Setting
	for _, s := range all {
		if slices.Contains(s.Commands, command) {
			of = append(of, s)
		}
	}
	return of
}

// FromEnvironment sets the settings of a command from environment variables. It skips settings
// whose flag is on the command line, as reported by isGiven, and empty variables. lookup is
// os.LookupEnv or a replacement. It returns an error for the operator if a variable has an
// invalid value.
func FromEnvironment(
	c *Config, command string, lookup func(string) (string, bool), isGiven func(flag string) bool,
) error {
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
