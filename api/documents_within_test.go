package api_test

import (
	"fmt"
	"strings"
)

// withinLimits are the most expensive documents within the limits of fields, aliases, definitions
// and names.
var withinLimits = []document{
	queryDocument("within: flat", func() string { return "{" + strings.Repeat("viewer{id}", 124) + "}" }),
	queryDocument("within: two levels", func() string { return "{" + strings.Repeat("viewer{"+strings.Repeat("id ", 15)+"}", 15) + "}" }),
	queryDocument("within: two levels of two", func() string {
		return "{" + strings.Repeat("viewer{"+strings.Repeat("id ", 123)+"}", 2) + "}"
	}),
	queryDocument("within: three levels", func() string {
		return "{" + strings.Repeat("viewer{"+strings.Repeat("posts{"+strings.Repeat("__typename ", 5)+"}", 6)+"}", 6) + "}"
	}),
	queryDocument("within: twelve levels", func() string {
		one := "{posts{nodes{author{posts{nodes{author{posts{nodes{author{posts{nodes{id}}}}}}}}}}}}"
		return "{" + strings.Repeat("viewer"+one, 20) + "}"
	}),
	queryDocument("within: spreads", func() string {
		return "{" + strings.Repeat("viewer{...F ...G ...H}", 170) + "} fragment F on User{id ...G} fragment G on User{username ...H} fragment H on User{...F postCount}"
	}),
	queryDocument("within: spreads, no cycle", func() string {
		return "{" + strings.Repeat("viewer{...F ...G ...H}", 170) + "} fragment F on User{id ...G} fragment G on User{username ...H} fragment H on User{postCount}"
	}),
	queryDocument("within: conflicts of arguments", func() string {
		return "{" + many(124, func(i int) string { return fmt.Sprintf("user(id:%d){id}", i) }) + "}"
	}),
	queryDocument("within: conflicts below", func() string {
		return "{" + strings.Repeat("viewer{"+many(11, func(i int) string { return fmt.Sprintf("posts(first:%d){__typename}", i+1) })+"}", 10) + "}"
	}),
	queryDocument("within: arguments of 4 kB", func() string {
		value := strings.Repeat("y", 4000)
		return "{" + strings.Repeat(`userByUsername(username:"`+value+`"){id}`, 120) + "}"
	}),
	queryDocument("within: many arguments", func() string {
		arguments := many(18, func(i int) string { return fmt.Sprintf("a%d:1 ", i) })
		return "{" + strings.Repeat("viewer("+arguments+"){id}", 33) + "}"
	}),
	queryDocument("within: four operations", func() string {
		return many(4, func(i int) string { return fmt.Sprintf("query Q%d{viewer{...F}}", i) }) +
			" fragment F on User{posts{" + strings.Repeat("__typename ", 190) + "}}"
	}),
	queryDocument("within: four fragments", func() string {
		return "{viewer{...F0}}" + many(4, func(i int) string { return fmt.Sprintf(" fragment F%d on User{...F%d}", i, i+1) }) +
			" fragment F4 on User{...{posts{" + strings.Repeat("__typename ", 160) + "}}}"
	}),
	queryDocument("within: fragments that spread all others", func() string {
		const n = 40
		return "{viewer{...F0}}" + many(n, func(i int) string {
			return fmt.Sprintf(" fragment F%d on User{id %s}", i, many(min(n-i-1, 18), func(j int) string { return fmt.Sprintf("...F%d ", i+j+1) }))
		})
	}),
	queryDocument("within: fragments that multiply", func() string {
		return "{viewer{...F0}}" + many(4, func(i int) string {
			return fmt.Sprintf(" fragment F%d on User{%s}", i, many(7, func(j int) string { return fmt.Sprintf("a%d:posts(first:1){nodes{author{...F%d}}}", j, i+1) }))
		}) + " fragment F4 on User{" + strings.Repeat("id ", 150) + "}"
	}),
	queryDocument("within: fragments that multiply without lists", func() string {
		return "{" + many(6, func(i int) string { return fmt.Sprintf(`a%d:post(id:"p_aaaaaaaaaaaaaaaaaaaaaaaaaa"){...F0}`, i) }) + "}" + many(5, func(i int) string {
			return fmt.Sprintf(" fragment F%d on Post{%s}", i, many(4, func(j int) string { return fmt.Sprintf("a%d:author{...on Node{...on Post{...F%d}}}", j, i+1) }))
		}) + " fragment F5 on Post{" + strings.Repeat("id ", 150) + "}"
	}),
	queryDocument("within: nodes", func() string {
		return "{" + many(29, func(i int) string {
			return fmt.Sprintf(`a%d:nodes(ids:[%s]){...F}`, i, strings.Repeat(`"p_aaaaaaaaaaaaaaaaaaaaaaaaaa"`, 45))
		}) + "} fragment F on Post{" + strings.Repeat("id ", 150) + "}"
	}),
	queryDocument("within: values in many fragments", func() string {
		return "{viewer{...F0}}" + many(40, func(i int) string { return fmt.Sprintf(" fragment F%d on User{...F%d}", i, i+1) }) +
			" fragment F40 on User{posts(first:[" + strings.Repeat("1 ", 1400) + "]){__typename}}"
	}),
	queryDocument("within: names of 200", func() string { return "{" + many(249, func(i int) string { return longName(199, i) + " " }) + "}" }),
	queryDocument("within: types with names of 200", func() string {
		return "{" + many(249, func(i int) string { return "...on " + longName(199, i) + "{id}" }) + "}"
	}),
	queryDocument("within: arguments with names of 200", func() string {
		return "{user(" + many(640, func(i int) string { return longName(199, i) + ":1 " }) + "){id}}"
	}),
	queryDocument("within: members with names of 200", func() string {
		return "mutation{createPost(input:{" + many(640, func(i int) string { return longName(199, i) + ":1 " }) + "}){post{id}}}"
	}),
	queryDocument("within: types of variables with names of 200", func() string {
		return "query(" + many(490, func(i int) string { return fmt.Sprintf("$v%d:%s ", i, longName(199, i)) }) + "){__typename}"
	}),
	queryDocument("within: a nest of strings", func() string {
		value := `"` + strings.Repeat("y", 250_000) + `"`
		return "{user(id:[[[[" + value + " " + value + "]]]]){id}}"
	}),
	queryDocument("within: an object of a nest of strings", func() string {
		return "mutation{createUser(input:{username:[[[" + strings.Repeat(`"`+strings.Repeat("y", 250)+`" `, 1900) + "]]]}){user{id}}}"
	}),
	queryDocument("within: a block string", func() string {
		return `{userByUsername(username:"""` + strings.Repeat("\n y", 120_000) + `"""){id}}`
	}),
	queryDocument("within: a string of characters", func() string {
		return `{userByUsername(username:"\u0041` + strings.Repeat(`é`, 250_000) + `"){id}}`
	}),
	queryDocument("within: 512 KiB of a comment", func() string { return "{__typename} #" + strings.Repeat("y", 500_000) }),
	queryDocument("within: a string without an end", func() string { return `{userByUsername(username:"\u0041` + strings.Repeat("y", 500_000) }),
	queryDocument("within: variables in a list", func() string {
		return "query(" + many(300, func(i int) string { return fmt.Sprintf("$v%d:Int ", i) }) + "){feed(first:[" + many(380, func(i int) string { return fmt.Sprintf("$v%d ", i%300) }) + "]){__typename}}"
	}),
	queryDocument("within: introspection", func() string {
		return "{__schema{types{...T}}} fragment T on __Type{" + strings.Repeat("fields{type{...U}} ", 60) + "} fragment U on __Type{" +
			strings.Repeat("fields{name type{...V}} ", 30) + "} fragment V on __Type{" + strings.Repeat("name ", 20) + "}"
	}),
	queryDocument("within: inline fragments", func() string {
		return "{viewer" + strings.Repeat("{...", 480) + "{" + strings.Repeat("id ", 240) + "}" + strings.Repeat("}", 480) + "}"
	}),
	queryDocument("within: inline fragments in many operations", func() string {
		return many(4, func(i int) string { return fmt.Sprintf("query Q%d{viewer{...F}}", i) }) +
			" fragment F on User" + strings.Repeat("{...", 400) + "{" + strings.Repeat("id ", 190) + "}" + strings.Repeat("}", 400)
	}),
	queryDocument("within: inline fragments around lists", func() string {
		return "{viewer" + strings.Repeat("{...", 300) + "{posts{" + strings.Repeat("__typename ", 110) + "} ...F}" + strings.Repeat("}", 300) + "}" +
			" fragment F on User{posts{" + strings.Repeat("__typename ", 110) + "}}"
	}),
	queryDocument("within: inline fragments around spreads", func() string {
		return "{viewer" + strings.Repeat("{...", 300) + "{" + many(300, func(i int) string { return fmt.Sprintf("...F%d ", i%20) }) + "}" + strings.Repeat("}", 300) + "}" +
			many(20, func(i int) string { return fmt.Sprintf(" fragment F%d on User{id}", i) })
	}),
	queryDocument("within: two fragments of one name", func() string {
		return many(48, func(i int) string { return fmt.Sprintf("query Q%d{viewer{...F}}", i) }) +
			" fragment F on User{posts{" + strings.Repeat("__typename ", 190) + "}} fragment F on User{id}"
	}),
	queryDocument("within: many spreads", func() string {
		return "{viewer{" + many(780, func(i int) string { return fmt.Sprintf("...F%d ", i%40) }) + "}}" + many(40, func(i int) string { return fmt.Sprintf(" fragment F%d on User{id}", i) })
	}),
	queryDocument("within: a long value in many operations", func() string {
		return many(48, func(i int) string { return fmt.Sprintf("query Q%d{...F}", i) }) + ` fragment F on Query{nodes(ids:[[["` + strings.Repeat("y", 490_000) + `"]]]){id}}`
	}),
	queryDocument("within: a block string of line breaks", func() string { return `{feed(first:"""` + strings.Repeat("\n", 500_000) + `"""){nodes{id}}}` }),
	queryDocument("within: conflicts of equal names in inline fragments", func() string {
		return "{viewer" + strings.Repeat("{...", 3) + "{" + strings.Repeat("id:username ", 30) + strings.Repeat("id ", 219) + "}" + strings.Repeat("}", 3) + "}"
	}),
	queryDocument("within: conflicts of unknown arguments in inline fragments", func() string {
		return "{...{...{...{" + many(249, func(i int) string { return fmt.Sprintf("__typename(x%d:1) ", i) }) + "}}}}"
	}),
}
