package api_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// marker is in the documents at each place where clients choose the text. No response may repeat
// it.
const marker = "S3CRET"

// document is the body of a request that tries to cost more than it should.
type document struct {
	name string
	body func() string
	long bool // whether the query is above Limits.QueryBytes
}

// bodyRoom is the part of a 2 MiB body that a query or its variables can fill, in bytes.
const bodyRoom = 2<<20 - 200

// queryDocument returns a document with the given query.
func queryDocument(name string, query func() string) document {
	return document{name: name, body: func() string {
		body, err := json.Marshal(map[string]string{"query": query()})
		if err != nil {
			panic(err)
		}
		return string(body)
	}}
}

// longDocument returns a document with a query above Limits.QueryBytes.
func longDocument(name string, query func() string) document {
	d := queryDocument(name, query)
	d.long = true
	return d
}

// fill repeats a text up to bodyRoom bytes.
func fill(text string) string { return strings.Repeat(text, bodyRoom/len(text)) }

// many concatenates the results of part for 0 to n-1.
func many(n int, part func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(part(i))
	}
	return b.String()
}

// longName returns a name of n characters that ends in i.
func longName(n, i int) string {
	end := fmt.Sprint("_", i)
	return marker + strings.Repeat("x", n-len(end)-len(marker)) + end
}

// documents are the most expensive documents known.
var documents = slices.Concat(aboveLimits, withinLimits, largeBodies)

// aboveLimits are above the limits of documents. Most of them are within those of bodies and
// tokens.
var aboveLimits = []document{
	queryDocument("101 aliases", func() string { return aliases(101) }),
	queryDocument("7,000 aliases", func() string { return aliases(7000) }),
	queryDocument("500 fields", func() string { return "{" + strings.Repeat("__typename ", 500) + "}" }),
	queryDocument("1,998 fields", func() string { return "{" + strings.Repeat("__typename ", 1998) + "}" }),
	queryDocument("20,000 directives", func() string { return "{__typename " + strings.Repeat("@"+marker+" ", 20_000) + "}" }),
	queryDocument("990 unknown directives", func() string { return "{__typename " + strings.Repeat("@"+marker+" ", 990) + "}" }),
	queryDocument("990 directives", func() string { return "{__typename " + strings.Repeat("@skip ", 990) + "}" }),
	longDocument("a million tokens", func() string { return fill("{a") }),
	queryDocument("60 deep", func() string { return nested(60) }),
	queryDocument("600 deep", func() string { return nested(600) }),
	queryDocument("660 deep, unknown", func() string { return strings.Repeat("{"+marker, 660) + "{id" + strings.Repeat("}", 661) }),

	// Overlapping fields. Validation compares all pairs of fields with one name, and their subfields.
	queryDocument("overlap: flat", func() string { return "{" + strings.Repeat("viewer{id}", 490) + "}" }),
	queryDocument("overlap: two levels", func() string {
		return "{" + strings.Repeat("viewer{"+strings.Repeat("id ", 40)+"}", 46) + "}"
	}),
	queryDocument("overlap: three levels", func() string {
		return "{" + strings.Repeat("viewer{"+strings.Repeat("posts{"+strings.Repeat("__typename ", 9)+"}", 12)+"}", 13) + "}"
	}),
	queryDocument("overlap: within deep", func() string {
		return "{viewer" + strings.Repeat("{posts{nodes{author", 3) + "{" + strings.Repeat("id ", 1970) + "}" + strings.Repeat("}}}", 3) + "}"
	}),
	queryDocument("overlap: conflicts", func() string {
		return "{" + strings.Repeat("viewer{"+strings.Repeat("a:id a:username ", 7)+"}", 43) + "}"
	}),
	queryDocument("overlap: conflicts, flat", func() string {
		return "{viewer{" + strings.Repeat("a:id a:username ", 330) + "}}"
	}),
	queryDocument("overlap: unknown fields", func() string {
		return "{" + strings.Repeat("viewer{"+strings.Repeat(marker+" ", 40)+"}", 46) + "}"
	}),
	longDocument("overlap: arguments", func() string {
		value := strings.Repeat("y", bodyRoom/280-40)
		return "{" + strings.Repeat(`userByUsername(username:"`+value+`"){id}`, 280-10) + "}"
	}),
	queryDocument("overlap: arguments of lists", func() string {
		list := "[" + strings.Repeat("0 ", 88) + "]"
		return "{" + strings.Repeat(`nodes(ids:`+list+`){id}`, 20) + "}"
	}),
	queryDocument("overlap: fragments that spread all others", func() string {
		const n = 36
		spreads := many(n, func(i int) string { return fmt.Sprintf("...F%d ", i) })
		return "{viewer{...F0}}" + many(n, func(i int) string {
			return fmt.Sprintf(" fragment F%d on User{%s}", i, many(n-i-1, func(j int) string { return fmt.Sprintf("...F%d ", i+j+1) }))
		}) + " query Q{viewer{" + spreads + "}}"
	}),
	queryDocument("overlap: fragments of fields", func() string {
		const n = 40
		return "{viewer{" + many(n, func(i int) string { return fmt.Sprintf("...F%d ", i) }) + "}}" +
			many(n, func(i int) string { return fmt.Sprintf(" fragment F%d on User{%s}", i, strings.Repeat("id ", 40)) })
	}),
	queryDocument("overlap: fragments and fields within one another", func() string {
		const n = 60
		return "{viewer{...F0 ...F0}}" + many(n, func(i int) string {
			return fmt.Sprintf(" fragment F%d on User{%s}", i, strings.Repeat(fmt.Sprintf("posts{nodes{author{...F%d}}}", i+1), 2))
		}) + fmt.Sprintf(" fragment F%d on User{id}", n)
	}),
	queryDocument("overlap: a fragment in many operations", func() string {
		return many(100, func(i int) string { return fmt.Sprintf("query Q%d{viewer{...F}}", i) }) +
			" fragment F on User{" + strings.Repeat("posts{"+strings.Repeat("__typename ", 25)+"}", 35) + "}"
	}),
	queryDocument("overlap: inline fragments in many fragments", func() string {
		return "{viewer{...F0}}" + many(100, func(i int) string { return fmt.Sprintf(" fragment F%d on User{...F%d}", i, i+1) }) +
			" fragment F100 on User{...{...{...{...{" + strings.Repeat("posts{"+strings.Repeat("__typename ", 25)+"}", 35) + "}}}}}"
	}),
	queryDocument("overlap: inline fragments", func() string {
		return "{viewer" + strings.Repeat("{...", 300) + "{" + strings.Repeat("id ", 1000) + "}" + strings.Repeat("}", 300) + "}"
	}),

	// Fragments.
	queryDocument("10,000 fragments", func() string {
		return "{__typename}" + many(10_000, func(i int) string { return fmt.Sprintf(" fragment F%d on User{id}", i) })
	}),
	longDocument("280 unused fragments", func() string {
		return "{__typename}" + many(280, func(i int) string { return fmt.Sprintf(" fragment %s on User{id}", longName(7000, i)) })
	}),
	queryDocument("a cycle of 220 fragments", func() string {
		return "{viewer{...F0}}" + many(220, func(i int) string { return fmt.Sprintf(" fragment F%d on User{...F%d}", i, (i+1)%220) })
	}),
	queryDocument("a chain of 220 fragments", func() string {
		return "{viewer{...F0}}" + many(219, func(i int) string { return fmt.Sprintf(" fragment F%d on User{...F%d}", i, i+1) }) + " fragment F219 on User{id}"
	}),
	longDocument("many cycles by long names", func() string {
		const n = 100
		return "{viewer{...A}} fragment A on User{..." + longName(9000, 0) + "}" + many(n, func(i int) string {
			return fmt.Sprintf(" fragment %s on User{...%s}", longName(9000, i), longName(9000, i+1))
		}) + " fragment " + longName(9000, n) + " on User{" + strings.Repeat("...A ", 500) + "}"
	}),
	queryDocument("fragments all of one name", func() string { return "{__typename}" + strings.Repeat(" fragment F on User{...F}", 220) }),
	queryDocument("unknown fragments", func() string { return "{" + strings.Repeat("..."+marker+" ", 990) + "}" }),
	longDocument("fragments on unknown types", func() string { return "{" + strings.Repeat("...on "+longName(5000, 1)+"{id}", 330) + "}" }),

	// Names.
	longDocument("a field with a name of 2 MB", func() string { return "{" + longName(bodyRoom, 1) + "}" }),
	longDocument("fields with names of 4 kB", func() string { return "{" + many(500, func(i int) string { return longName(4000, i) + " " }) + "}" }),
	longDocument("fields with names of 1 kB", func() string { return "{" + many(1900, func(i int) string { return longName(1000, i) + " " }) + "}" }),
	longDocument("an argument with a name of 2 MB", func() string { return "{user(" + longName(bodyRoom-100, 1) + ":1){id}}" }),
	longDocument("arguments with names of 3 kB", func() string {
		return "{user(" + many(640, func(i int) string { return longName(3000, i) + ":1 " }) + "){id}}"
	}),
	longDocument("a type with a name of 2 MB", func() string { return "query($x:" + longName(bodyRoom-100, 1) + "){__typename}" }),
	longDocument("a type of an input field with long names", func() string {
		return "mutation{createUser(input:{" + many(600, func(i int) string { return longName(3000, i) + ":1 " }) + "}){user{id}}}"
	}),
	longDocument("an enum value of 2 MB", func() string { return `{user(id:` + longName(bodyRoom-100, 1) + `){id}}` }),
	longDocument("a type for each variable", func() string {
		return "query(" + many(490, func(i int) string { return fmt.Sprintf("$v%d:%s ", i, longName(4000, i)) }) + "){__typename}"
	}),
	queryDocument("suggestions", func() string { return "{" + strings.Repeat("viewe ", 1990) + "}" }),
	queryDocument("suggestions of types", func() string { return "{" + strings.Repeat("...on Pos{id}", 330) + "}" }),

	// Operations and variables.
	queryDocument("650 operations", func() string { return many(490, func(i int) string { return fmt.Sprintf("query Q%d{id}", i) }) }),
	queryDocument("operations without names", func() string { return strings.Repeat("{id}", 660) }),
	queryDocument("operations all of one name", func() string { return strings.Repeat("query A{__typename}", 390) }),
	queryDocument("490 unused variables", func() string {
		return "query(" + many(490, func(i int) string { return fmt.Sprintf("$v%d:Int ", i) }) + "){__typename}"
	}),
	queryDocument("490 variables of one name", func() string { return "query(" + strings.Repeat("$"+marker+":Int ", 490) + "){__typename}" }),
	queryDocument("unknown variables", func() string { return "{user(id:[" + strings.Repeat("$"+marker+" ", 990) + "]){id}}" }),
	longDocument("unknown variables with a long name", func() string {
		return "{user(id:[" + strings.Repeat("$"+longName(2000, 1)+" ", 990) + "]){id}}"
	}),
	queryDocument("variables of variables", func() string {
		return "query(" + many(240, func(i int) string { return fmt.Sprintf("$v%d:[Int!]=[0,$v%d] ", i, i) }) + "){__typename}"
	}),
	queryDocument("a list type 900 deep", func() string {
		return "query($v:" + strings.Repeat("[", 900) + "Int" + strings.Repeat("]", 900) + "){feed(first:$v){nodes{id}}}"
	}),

	// Values.
	queryDocument("a list 990 deep", func() string {
		return "{user(id:" + strings.Repeat("[", 990) + strings.Repeat("]", 990) + "){id}}"
	}),
	longDocument("a million lists within one another", func() string { return "{user(id:" + fill("[")[:1_900_000] }),
	queryDocument("an object 390 deep", func() string {
		return "{user(id:" + strings.Repeat("{a:", 390) + "1" + strings.Repeat("}", 390) + "){id}}"
	}),
	longDocument("a list of long strings", func() string {
		return `{user(id:[` + strings.Repeat(`"`+marker+strings.Repeat("y", 1000)+`" `, 1800) + `]){id}}`
	}),
	longDocument("a nest of long strings", func() string {
		value := `"` + strings.Repeat("y", 1500) + `"`
		return "{user(id:" + strings.Repeat("["+value, 660) + strings.Repeat("]", 660) + "){id}}"
	}),
	longDocument("an input with a nest of long strings", func() string {
		value := `"` + strings.Repeat("y", 1500) + `"`
		return "mutation{createUser(input:{username:" + strings.Repeat("["+value, 650) + strings.Repeat("]", 650) + "}){user{id}}}"
	}),
	longDocument("a string of 2 MB", func() string { return `{userByUsername(username:"` + marker + fill("y")[:bodyRoom-200] + `"){id}}` }),
	longDocument("a string of escapes", func() string { return `{userByUsername(username:"` + strings.Repeat(`\n`, bodyRoom/4) + `"){id}}` }),
	longDocument("a string of characters", func() string {
		return `{userByUsername(username:"\u0041` + strings.Repeat(`é`, bodyRoom/2-100) + `"){id}}`
	}),
	longDocument("a string of escaped characters", func() string {
		return `{userByUsername(username:"` + strings.Repeat(`\u0041`, bodyRoom/8) + `"){id}}`
	}),
	longDocument("a block string of 2 MB", func() string { return `{userByUsername(username:"""` + marker + fill("y")[:bodyRoom-300] + `"""){id}}` }),
	longDocument("a block string of lines", func() string {
		return `{userByUsername(username:"""` + strings.Repeat("\n", bodyRoom/2-200) + `"""){id}}`
	}),
	longDocument("a block string of indented lines", func() string {
		return `{userByUsername(username:"""` + strings.Repeat("\n y", bodyRoom/4-200) + `"""){id}}`
	}),
	longDocument("a number of 2 MB", func() string { return `{feed(first:` + fill("1")[:bodyRoom-100] + `){nodes{id}}}` }),
	longDocument("a float of 2 MB", func() string { return `{feed(first:1e` + fill("1")[:bodyRoom-100] + `){nodes{id}}}` }),

	// Ignored and malformed tokens.
	longDocument("a comment of 2 MB", func() string { return "{__typename} #" + fill("y")[:bodyRoom-100] }),
	longDocument("a comment of characters", func() string { return "{__typename} #" + strings.Repeat("é", bodyRoom/2-100) }),
	longDocument("a million comments", func() string { return strings.Repeat("#\n", bodyRoom/3-100) + "{__typename}" }),
	longDocument("2 MB of blanks", func() string { return fill(" ")[:bodyRoom-100] + "{__typename}" }),
	longDocument("a million lines", func() string { return strings.Repeat("\n", bodyRoom/2-100) + "{__typename}" }),
	longDocument("byte order marks", func() string { return strings.Repeat("\ufeff", bodyRoom/3-100) + "{__typename}" }),
	longDocument("2 MB of braces", func() string { return fill("{") }),
	longDocument("2 MB of closing braces", func() string { return "{a" + fill("}")[:bodyRoom-10] }),
	longDocument("2 MB of dots", func() string { return fill("...") }),
	queryDocument("2 MB of NUL", func() string { return strings.Repeat("\x00", bodyRoom/6) }),
	longDocument("a string without an end", func() string { return `{userByUsername(username:"\u0041` + fill("y")[:bodyRoom-200] }),
	queryDocument("introspection", func() string {
		return "{__schema{types{fields{type{fields{type{fields{type{fields{name}}}}}}}}}}"
	}),
	queryDocument("introspection through fragments", func() string {
		return "{__schema{types{...T}}} fragment T on __Type{" + strings.Repeat("fields{type{...U}} ", 100) + "} fragment U on __Type{" +
			strings.Repeat("fields{name type{...V}} ", 100) + "} fragment V on __Type{" + strings.Repeat("name ", 500) + "}"
	}),
}
