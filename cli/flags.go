package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"cosmosblog/cli/config"
)

// addFlags adds a flag for each setting of a command.
func addFlags(command *cobra.Command, name string, c *config.Config) {
	for _, s := range config.Of(name) {
		if s.Flag == "" {
			continue
		}
		flag := command.Flags().VarPF(&flagValue{s, c}, s.Flag, "", usage(s))
		if s.Kind() == "bool" {
			flag.NoOptDefVal = "true"
		}
	}
}

// usage returns the help text of a setting, without back quotes: pflag would show a quoted word
// as the name of the flag's value.
func usage(s config.Setting) string {
	meaning := strings.ReplaceAll(s.Meaning, "`", "")
	if s.Env != "" {
		meaning += " [" + s.Env + "]"
	}
	return meaning
}

// environmentHelp lists the settings that have no flag.
func environmentHelp(name string) string {
	const brackets = "\nEnvironment variables are in brackets; flags take precedence."
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	for _, s := range config.Of(name) {
		if s.Flag == "" {
			fmt.Fprintf(table, "  %s\t%s\n", s.Env, usage(config.Setting{Meaning: s.Meaning}))
		}
	}
	table.Flush()
	if b.Len() == 0 {
		return brackets
	}
	return brackets + " Environment variables without a flag:\n" + b.String()
}

// flagValue is a setting as a pflag.Value.
type flagValue struct {
	setting config.Setting
	config  *config.Config
}

func (v *flagValue) String() string {
	if v.config == nil {
		return "" // pflag calls it on a zero value
	}
	return v.setting.Get(v.config)
}

func (v *flagValue) Set(text string) error { return v.setting.Set(v.config, text) }

func (v *flagValue) Type() string { return v.setting.Kind() }
