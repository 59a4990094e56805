package command

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"cosmosblog/internal/config"
)

// addFlags gives a command the flags that its settings have.
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

// usage is a setting's line in the help. There, back quotes would name the flag's value.
func usage(s config.Setting) string {
	meaning := strings.ReplaceAll(s.Meaning, "`", "")
	if s.Env != "" {
		meaning += " [" + s.Env + "]"
	}
	return meaning
}

// environmentHelp lists what the environment alone can set.
func environmentHelp(name string) string {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	for _, s := range config.Of(name) {
		if s.Flag == "" {
			fmt.Fprintf(table, "  %s\t%s\n", s.Env, usage(config.Setting{Meaning: s.Meaning}))
		}
	}
	table.Flush()
	if b.Len() == 0 {
		return "\nA flag's environment variable stands in brackets; the flag wins."
	}
	return "\nA flag's environment variable stands in brackets; the flag wins. Set by the environment alone:\n" + b.String()
}

// flagValue is a setting as the command line's library wants it.
type flagValue struct {
	setting config.Setting
	config  *config.Config
}

func (v *flagValue) String() string {
	if v.config == nil {
		return "" // the library asks a zero value what it prints
	}
	return v.setting.Get(v.config)
}

func (v *flagValue) Set(text string) error { return v.setting.Set(v.config, text) }

func (v *flagValue) Type() string { return v.setting.Kind() }
