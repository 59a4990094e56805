package command

import (
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"cosmosblog/store"
)

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"":     "",
		"no":   "no",
		"a  b": "a b",
		"GET http://a/b\n----------\nRESPONSE 400: 400 Bad Request\n----------\n{\n  \"code\": \"x\"\n}\n": `GET http://a/b RESPONSE 400: 400 Bad Request { "code": "x" }`,
		"\x1b[31mred\u202e": "[31mred",
		"minus - and -1":    "minus and -1",
	} {
		if got := oneLine(text); got != want {
			t.Errorf("%q gives %q, not %q", text, got, want)
		}
	}
	if long := oneLine(strings.Repeat("é", 1000)); utf8.RuneCountInString(long) != longestLine || !strings.HasSuffix(long, "é…") {
		t.Errorf("%q", long)
	}
}

// A letter of what is gone is done, and the line says why; one of a container that this program does not have is left.
func TestRetriesOfWhatIsGone(t *testing.T) {
	database, ctx := openInMemory(t), t.Context()
	for _, letter := range []store.DeadLetter{
		{Projection: "feed", Container: store.PostsContainer, PartitionKey: "p_gone", ItemID: "p_gone"},
		{Container: store.PostsContainer, ItemID: "stray"},
		{Projection: "deletion", Container: store.UsersContainer, PartitionKey: "u_gone", ItemID: "u_gone"},
		{Projection: "old", Container: "attic", PartitionKey: "x", ItemID: "x"},
	} {
		if err := database.Store.SetAside(ctx, letter); err != nil {
			t.Fatal(err)
		}
	}
	letters, err := database.Store.DeadLetters(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	err = retryLetters(ctx, Task{Environment: Environment{Stdout: &said, Stderr: io.Discard}}, database, letters)
	if err == nil || err.Error() != "3 of 4 dead letters are done, and 1 are left" {
		t.Errorf("%v", err)
	}
	if n := strings.Count(said.String(), "done: the item is gone"); n != 3 || !strings.Contains(said.String(), `There is no container "attic".`) {
		t.Errorf("said %s", said.String())
	}
}
