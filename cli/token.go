package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cosmosblog/cli/config"
	"cosmosblog/guard/auth"
)

var tokenText = text{
	short: "Prints a token for development",
	long: `Prints a token that servers on the data folder accept in development, and nothing else.
The token is signed with the folder's local key and valid for a week. The key is created if it
does not exist.
`,
}

func runToken(_ context.Context, task Task) error {
	key, err := auth.OpenLocalKey(task.Config.Data)
	if err != nil {
		return err
	}
	token, err := key.Token(task.Config.Subject, time.Now(), auth.LocalTokenLifetime)
	if err != nil {
		return err
	}
	task.Printf("%s\n", token)
	return nil
}

// tokenCommand returns the command line that prints a token of a subject. It calls the program
// by the same path as this process.
func tokenCommand(subject, data string) string {
	program := os.Args[0]
	if strings.Contains(program, string(filepath.Separator)+"go-build") {
		program = "go run ."
	}
	text := program + " token --sub " + subject
	if data != config.Default(config.Token).Data {
		text += " --data '" + strings.ReplaceAll(data, "'", `'\''`) + "'"
	}
	return text
}
