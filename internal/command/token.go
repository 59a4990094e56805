package command

import (
	"context"
	"time"

	"cosmosblog/internal/auth"
)

var tokenText = text{
	short: "Print a token for development",
	long: `Prints a token that the servers on the data folder take, and nothing else. The token is signed with the folder's local
key, which is made where there is none, and is valid for a week. It works in development alone.
`,
}

const tokenLifetime = 7 * 24 * time.Hour

func token(_ context.Context, task Task) error {
	key, err := auth.OpenLocalKey(task.Config.Data)
	if err != nil {
		return err
	}
	token, err := key.Token(task.Config.Subject, time.Now(), tokenLifetime)
	if err != nil {
		return err
	}
	task.Printf("%s\n", token)
	return nil
}
