package httpapi_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// marker is in the documents wherever a client can write what it likes: no answer may repeat it.
const marker = "S3CRET"

// document is the body of a request that costs more than it should, or tries to.
type document struct {
	name string
	body func() string
}

// bodyRoom is what a query or its variables may fill of a body of 2 MiB.
const bodyRoom = 2<<20 - 200

// textOf makes a body of a query's text.
func textOf(name string, query func() string) document {
	return document{name, func() string {
		body, err := json.Marshal(map[string]string{"query": query()})
		if err != nil {
			panic(err)
		}
		return string(body)
	}}
}

// fill repeats a text as often as there is room for.
func fill(text string) string { return strings.Repeat(text, bodyRoom/len(text)) }

// many joins what part gives for 0 to n-1.
func many(n int, part func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(part(i))
	}
	return b.String()
}

// long is a name of n characters that ends in i.
func long(n, i int) string {
	end := fmt.Sprint("_", i)
	return marker + strings.Repeat("x", n-len(end)-len(marker)) + end
}

// documents are the worst that we could think of.
var documents = slices.Concat(tooMuch, withinLimits, large)

// tooMuch are beyond the limits of documents, most of them not beyond those of bodies and tokens.
var tooMuch = []document{
	textOf("101 aliases", func() string { return aliases(101) }),
	textOf("7,000 aliases", func() string { return aliases(7000) }),
	textOf("500 fields", func() string { return "{" + strings.Repeat("__typename ", 500) + "}" }),
	textOf("1,998 fields", func() string { return "{" + strings.Repeat("__typename ", 1998) + "}" }),
	textOf("20,000 directives", func() string { return "{__typename " + strings.Repeat("@"+marker+" ", 20_000) + "}" }),
	textOf("990 unknown directives", func() string { return "{__typename " + strings.Repeat("@"+marker+" ", 990) + "}" }),
	textOf("990 directives", func() string { return "{__typename " + strings.Repeat("@skip ", 990) + "}" }),
	textOf("a million tokens", func() string { return fill("{a") }),
	textOf("60 deep", func() string { return nested(60) }),
	textOf("600 deep", func() string { return nested(600) }),
	textOf("660 deep, unknown", func() string { return strings.Repeat("{"+marker, 660) + "{id" + strings.Repeat("}", 661) }),

	// Overlapping fields: each pair of one name is compared, with what is below.
	textOf("overlap: flat", func() string { return "{" + strings.Repeat("viewer{id}", 490) + "}" }),
	textOf("overlap: two levels", func() string {
		return "{" + strings.Repeat("viewer{"+strings.Repeat("id ", 40)+"}", 46) + "}"
	}),
	textOf("overlap: three levels", func() string {
		return "{" + strings.Repeat("viewer{"+strings.Repeat("posts{"+strings.Repeat("__typename ", 9)+"}", 12)+"}", 13) + "}"
	}),
	textOf("overlap: within deep", func() string {
		return "{viewer" + strings.Repeat("{posts{nodes{author", 3) + "{" + strings.Repeat("id ", 1970) + "}" + strings.Repeat("}}}", 3) + "}"
	}),
	textOf("overlap: conflicts", func() string {
		return "{" + strings.Repeat("viewer{"+strings.Repeat("a:id a:username ", 7)+"}", 43) + "}"
	}),
	textOf("overlap: conflicts, flat", func() string {
		return "{viewer{" + strings.Repeat("a:id a:username ", 330) + "}}"
	}),
	textOf("overlap: unknown fields", func() string {
		return "{" + strings.Repeat("viewer{"+strings.Repeat(marker+" ", 40)+"}", 46) + "}"
	}),
	textOf("overlap: arguments", func() string {
		value := strings.Repeat("y", bodyRoom/280-40)
		return "{" + strings.Repeat(`userByUsername(username:"`+value+`"){id}`, 280-10) + "}"
	}),
	textOf("overlap: arguments of lists", func() string {
		list := "[" + strings.Repeat("0 ", 88) + "]"
		return "{" + strings.Repeat(`nodes(ids:`+list+`){id}`, 20) + "}"
	}),
	textOf("overlap: fragments that spread all others", func() string {
		const n = 36
		spreads := many(n, func(i int) string { return fmt.Sprintf("...F%d ", i) })
		return "{viewer{...F0}}" + many(n, func(i int) string {
			return fmt.Sprintf(" fragment F%d on User{%s}", i, many(n-i-1, func(j int) string { return fmt.Sprintf("...F%d ", i+j+1) }))
		}) + " query Q{viewer{" + spreads + "}}"
	}),
	textOf("overlap: fragments of fields", func() string {
		const n = 40
		return "{viewer{" + many(n, func(i int) string { return fmt.Sprintf("...F%d ", i) }) + "}}" +
			many(n, func(i int) string { return fmt.Sprintf(" fragment F%d on User{%s}", i, strings.Repeat("id ", 40)) })
	}),
	textOf("overlap: fragments and fields within one another", func() string {
		const n = 60
		return "{viewer{...F0 ...F0}}" + many(n, func(i int) string {
			return fmt.Sprintf(" fragment F%d on User{%s}", i, strings.Repeat(fmt.Sprintf("posts{nodes{author{...F%d}}}", i+1), 2))
		}) + fmt.Sprintf(" fragment F%d on User{id}", n)
	}),
	textOf("overlap: a fragment in many operations", func() string {
		return many(100, func(i int) string { return fmt.Sprintf("query Q%d{viewer{...F}}", i) }) +
			" fragment F on User{" + strings.Repeat("posts{"+strings.Repeat("__typename ", 25)+"}", 35) + "}"
	}),
	textOf("overlap: inline fragments in many fragments", func() string {
		return "{viewer{...F0}}" + many(100, func(i int) string { return fmt.Sprintf(" fragment F%d on User{...F%d}", i, i+1) }) +
			" fragment F100 on User{...{...{...{...{" + strings.Repeat("posts{"+strings.Repeat("__typename ", 25)+"}", 35) + "}}}}}"
	}),
	textOf("overlap: inline fragments", func() string {
		return "{viewer" + strings.Repeat("{...", 300) + "{" + strings.Repeat("id ", 1000) + "}" + strings.Repeat("}", 300) + "}"
	}),

	// Fragments.
	textOf("10,000 fragments", func() string {
		return "{__typename}" + many(10_000, func(i int) string { return fmt.Sprintf(" fragment F%d on User{id}", i) })
	}),
	textOf("280 unused fragments", func() string {
		return "{__typename}" + many(280, func(i int) string { return fmt.Sprintf(" fragment %s on User{id}", long(7000, i)) })
	}),
	textOf("a cycle of 220 fragments", func() string {
		return "{viewer{...F0}}" + many(220, func(i int) string { return fmt.Sprintf(" fragment F%d on User{...F%d}", i, (i+1)%220) })
	}),
	textOf("a chain of 220 fragments", func() string {
		return "{viewer{...F0}}" + many(219, func(i int) string { return fmt.Sprintf(" fragment F%d on User{...F%d}", i, i+1) }) + " fragment F219 on User{id}"
	}),
	textOf("many cycles by long names", func() string {
		const n = 100
		return "{viewer{...A}} fragment A on User{..." + long(9000, 0) + "}" + many(n, func(i int) string {
			return fmt.Sprintf(" fragment %s on User{...%s}", long(9000, i), long(9000, i+1))
		}) + " fragment " + long(9000, n) + " on User{" + strings.Repeat("...A ", 500) + "}"
	}),
	textOf("fragments all of one name", func() string { return "{__typename}" + strings.Repeat(" fragment F on User{...F}", 220) }),
	textOf("unknown fragments", func() string { return "{" + strings.Repeat("..."+marker+" ", 990) + "}" }),
	textOf("fragments on unknown types", func() string { return "{" + strings.Repeat("...on "+long(5000, 1)+"{id}", 330) + "}" }),

	// Names.
	textOf("a field with a name of 2 MB", func() string { return "{" + long(bodyRoom, 1) + "}" }),
	textOf("fields with names of 4 kB", func() string { return "{" + many(500, func(i int) string { return long(4000, i) + " " }) + "}" }),
	textOf("fields with names of 1 kB", func() string { return "{" + many(1900, func(i int) string { return long(1000, i) + " " }) + "}" }),
	textOf("an argument with a name of 2 MB", func() string { return "{user(" + long(bodyRoom-100, 1) + ":1){id}}" }),
	textOf("arguments with names of 3 kB", func() string {
		return "{user(" + many(640, func(i int) string { return long(3000, i) + ":1 " }) + "){id}}"
	}),
	textOf("a type with a name of 2 MB", func() string { return "query($x:" + long(bodyRoom-100, 1) + "){__typename}" }),
	textOf("a type of an input field with long names", func() string {
		return "mutation{createUser(input:{" + many(600, func(i int) string { return long(3000, i) + ":1 " }) + "}){user{id}}}"
	}),
	textOf("an enum value of 2 MB", func() string { return `{user(id:` + long(bodyRoom-100, 1) + `){id}}` }),
	textOf("a type for each variable", func() string {
		return "query(" + many(490, func(i int) string { return fmt.Sprintf("$v%d:%s ", i, long(4000, i)) }) + "){__typename}"
	}),
	textOf("suggestions", func() string { return "{" + strings.Repeat("viewe ", 1990) + "}" }),
	textOf("suggestions of types", func() string { return "{" + strings.Repeat("...on Pos{id}", 330) + "}" }),

	// Operations and variables.
	textOf("650 operations", func() string { return many(490, func(i int) string { return fmt.Sprintf("query Q%d{id}", i) }) }),
	textOf("operations without names", func() string { return strings.Repeat("{id}", 660) }),
	textOf("operations all of one name", func() string { return strings.Repeat("query A{__typename}", 390) }),
	textOf("490 unused variables", func() string {
		return "query(" + many(490, func(i int) string { return fmt.Sprintf("$v%d:Int ", i) }) + "){__typename}"
	}),
	textOf("490 variables of one name", func() string { return "query(" + strings.Repeat("$"+marker+":Int ", 490) + "){__typename}" }),
	textOf("unknown variables", func() string { return "{user(id:[" + strings.Repeat("$"+marker+" ", 990) + "]){id}}" }),
	textOf("unknown variables with a long name", func() string {
		return "{user(id:[" + strings.Repeat("$"+long(2000, 1)+" ", 990) + "]){id}}"
	}),
	textOf("variables of variables", func() string {
		return "query(" + many(240, func(i int) string { return fmt.Sprintf("$v%d:[Int!]=[0,$v%d] ", i, i) }) + "){__typename}"
	}),
	textOf("a list type 900 deep", func() string {
		return "query($v:" + strings.Repeat("[", 900) + "Int" + strings.Repeat("]", 900) + "){feed(first:$v){nodes{id}}}"
	}),

	// Values.
	textOf("a list 990 deep", func() string {
		return "{user(id:" + strings.Repeat("[", 990) + strings.Repeat("]", 990) + "){id}}"
	}),
	textOf("a million lists within one another", func() string { return "{user(id:" + fill("[")[:1_900_000] }),
	textOf("an object 390 deep", func() string {
		return "{user(id:" + strings.Repeat("{a:", 390) + "1" + strings.Repeat("}", 390) + "){id}}"
	}),
	textOf("a list of long strings", func() string {
		return `{user(id:[` + strings.Repeat(`"`+marker+strings.Repeat("y", 1000)+`" `, 1800) + `]){id}}`
	}),
	textOf("a nest of long strings", func() string {
		value := `"` + strings.Repeat("y", 1500) + `"`
		return "{user(id:" + strings.Repeat("["+value, 660) + strings.Repeat("]", 660) + "){id}}"
	}),
	textOf("an input with a nest of long strings", func() string {
		value := `"` + strings.Repeat("y", 1500) + `"`
		return "mutation{createUser(input:{username:" + strings.Repeat("["+value, 650) + strings.Repeat("]", 650) + "}){user{id}}}"
	}),
	textOf("a string of 2 MB", func() string { return `{userByUsername(username:"` + marker + fill("y")[:bodyRoom-200] + `"){id}}` }),
	textOf("a string of escapes", func() string { return `{userByUsername(username:"` + strings.Repeat(`\n`, bodyRoom/4) + `"){id}}` }),
	textOf("a string of characters", func() string {
		return `{userByUsername(username:"\u0041` + strings.Repeat(`é`, bodyRoom/2-100) + `"){id}}`
	}),
	textOf("a string of escaped characters", func() string {
		return `{userByUsername(username:"` + strings.Repeat(`\u0041`, bodyRoom/8) + `"){id}}`
	}),
	textOf("a block string of 2 MB", func() string { return `{userByUsername(username:"""` + marker + fill("y")[:bodyRoom-300] + `"""){id}}` }),
	textOf("a block string of lines", func() string {
		return `{userByUsername(username:"""` + strings.Repeat("\n", bodyRoom/2-200) + `"""){id}}`
	}),
	textOf("a block string of indented lines", func() string {
		return `{userByUsername(username:"""` + strings.Repeat("\n y", bodyRoom/4-200) + `"""){id}}`
	}),
	textOf("a number of 2 MB", func() string { return `{feed(first:` + fill("1")[:bodyRoom-100] + `){nodes{id}}}` }),
	textOf("a float of 2 MB", func() string { return `{feed(first:1e` + fill("1")[:bodyRoom-100] + `){nodes{id}}}` }),

	// What is no token.
	textOf("a comment of 2 MB", func() string { return "{__typename} #" + fill("y")[:bodyRoom-100] }),
	textOf("a comment of characters", func() string { return "{__typename} #" + strings.Repeat("é", bodyRoom/2-100) }),
	textOf("a million comments", func() string { return strings.Repeat("#\n", bodyRoom/3-100) + "{__typename}" }),
	textOf("2 MB of blanks", func() string { return fill(" ")[:bodyRoom-100] + "{__typename}" }),
	textOf("a million lines", func() string { return strings.Repeat("\n", bodyRoom/2-100) + "{__typename}" }),
	textOf("byte order marks", func() string { return strings.Repeat("\ufeff", bodyRoom/3-100) + "{__typename}" }),
	textOf("2 MB of braces", func() string { return fill("{") }),
	textOf("2 MB of closing braces", func() string { return "{a" + fill("}")[:bodyRoom-10] }),
	textOf("2 MB of dots", func() string { return fill("...") }),
	textOf("2 MB of NUL", func() string { return strings.Repeat("\x00", bodyRoom/6) }),
	textOf("a string without an end", func() string { return `{userByUsername(username:"\u0041` + fill("y")[:bodyRoom-200] }),
	textOf("introspection", func() string {
		return "{__schema{types{fields{type{fields{type{fields{type{fields{name}}}}}}}}}}"
	}),
	textOf("introspection through fragments", func() string {
		return "{__schema{types{...T}}} fragment T on __Type{" + strings.Repeat("fields{type{...U}} ", 100) + "} fragment U on __Type{" +
			strings.Repeat("fields{name type{...V}} ", 100) + "} fragment V on __Type{" + strings.Repeat("name ", 500) + "}"
	}),
}
