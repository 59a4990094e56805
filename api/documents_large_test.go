package api_test

import (
	"fmt"
	"strings"
)

// variablesDocument returns a document with variables in the given JSON text.
func variablesDocument(name string, variables func() string) document {
	return document{name: name, body: func() string {
		return `{"query":"query($x:String){userByUsername(username:$x){id}}","variables":` + variables() + `}`
	}}
}

// largeBodies are bodies with a large part other than the query, or with several large parts.
var largeBodies = []document{
	variablesDocument("variables of lists", func() string { return "{\"x\":" + strings.Repeat("[", 1<<20) }),
	variablesDocument("variables of numbers", func() string { return `{"x":[` + strings.Repeat("0,", bodyRoom/2-100) + `0]}` }),
	variablesDocument("variables of empty lists", func() string { return `{"x":[` + strings.Repeat("[],", bodyRoom/3-100) + `0]}` }),
	variablesDocument("variables of objects", func() string { return `{"x":[` + strings.Repeat(`{},`, bodyRoom/3-100) + `0]}` }),
	variablesDocument("variables of members", func() string {
		return `{` + many(200_000, func(i int) string { return fmt.Sprintf(`"%x":0,`, i) }) + `"x":0}`
	}),
	variablesDocument("variables of nests", func() string {
		return `{"x":[` + strings.Repeat(strings.Repeat("[", 80)+strings.Repeat("]", 80)+",", bodyRoom/161-10) + `0]}`
	}),
	variablesDocument("variables of strings", func() string { return `{"x":[` + strings.Repeat(`"",`, bodyRoom/3-100) + `0]}` }),
	variablesDocument("variables of true", func() string { return `{"x":[` + strings.Repeat(`null,`, bodyRoom/5-100) + `0]}` }),
	variablesDocument("a variable of 2 MB", func() string { return `{"x":"` + fill("y")[:bodyRoom-100] + `"}` }),
	variablesDocument("a variable of escapes", func() string { return `{"x":"` + strings.Repeat(`\n`, bodyRoom/2-100) + `"}` }),
	variablesDocument("a variable of surrogates", func() string { return `{"x":"` + strings.Repeat(`\ud83d\ude00`, bodyRoom/12-100) + `"}` }),
	variablesDocument("a variable of backslashes", func() string { return `{"x":"` + strings.Repeat(`\\`, bodyRoom/2-100) + `"}` }),
	variablesDocument("a number of 2 MB in variables", func() string { return `{"x":` + fill("1")[:bodyRoom-100] + `}` }),
	variablesDocument("a name of 2 MB in variables", func() string { return `{"` + fill("y")[:bodyRoom-100] + `":1}` }),
	variablesDocument("blanks in variables", func() string { return `{` + fill(" ")[:bodyRoom-100] + `"x":"a"}` }),
	{name: "an operationName of 2 MB", body: func() string {
		return `{"query":"{__typename}","operationName":"` + marker + fill("y")[:bodyRoom-100] + `"}`
	}},
	{name: "all at once: lines, and a long operationName", body: func() string {
		query := `{userByUsername(username:"""` + strings.Repeat("\n y", 120_000) + `"""){id}}`
		return `{"query":` + quoted(query) + `,"operationName":"` + fill("y")[:1_300_000] + `"}`
	}},
	{name: "all at once: lines, and a long variable", body: func() string {
		query := `query($x:String!,$i:Int){userByUsername(username:"""` + strings.Repeat("\n y", 120_000) + `"""){id} b:userByUsername(username:$x){id} feed(first:$i){nodes{id}}}`
		return `{"query":` + quoted(query) + `,"variables":{"i":1.5,"x":"` + strings.Repeat(`\n`, 600_000) + `"}}`
	}},
	{name: "all at once: strings, and a long variable", body: func() string {
		query := `query($x:Int){userByUsername(username:` + strings.Repeat(`[[["`+strings.Repeat("y", 250_000)+`"]]]`, 2) + `){id} feed(first:$x){nodes{id}}}`
		return `{"query":` + quoted(query) + `,"variables":{"x":"` + strings.Repeat(`\n`, 700_000) + `"}}`
	}},
	{name: "all at once: arguments, and a long variable", body: func() string {
		query := "{" + strings.Repeat(`userByUsername(username:"`+strings.Repeat("y", 4000)+`"){id}`, 120) + "}"
		return `{"query":` + quoted(query) + `,"variables":{"x":"` + strings.Repeat(`\n`, 700_000) + `"}}`
	}},
	{name: "all at once: conflicts, and a long variable", body: func() string {
		query := "{...{...{...{" + many(124, func(i int) string { return fmt.Sprintf("feed(first:%d){__typename} ", i) }) + "}}}}"
		return `{"query":` + quoted(query) + `,"variables":{"x":"` + strings.Repeat(`\n`, 1_000_000) + `"}}`
	}},
	{name: "all at once: values in many operations, and a long variable", body: func() string {
		query := many(12, func(i int) string { return fmt.Sprintf("query Q%d{...F}", i) }) + " fragment F on Query{nodes(ids:[" + strings.Repeat("TRUE ", 1000) + "]){id}}"
		return `{"query":` + quoted(query) + `,"variables":{"x":"` + strings.Repeat(`\n`, 1_000_000) + `"}}`
	}},
	{name: "a long id, many times", body: func() string {
		query := "query($x:ID!){" + many(30, func(i int) string { return fmt.Sprintf("a%d:node(id:$x){id} ", i) }) + "}"
		return `{"query":` + quoted(query) + `,"variables":{"x":"` + strings.Repeat("A", 1_900_000) + `"}}`
	}},
	{name: "extensions of 2 MB", body: func() string {
		return `{"query":"{__typename}","extensions":{"persistedQuery":{"version":1,"sha256Hash":"` + marker + fill("y")[:bodyRoom-200] + `"}}}`
	}},
	{name: "a batch of 100,000", body: func() string {
		return `[` + strings.Repeat(`{"query":""},`, 100_000) + `{}]`
	}},
}
