"""Builds the server's schema as clients in Python do, with graphql-core 3.2: from the answers to its
introspection query, with and without each of its options, and from /schema.graphql. All must be the schema
of the file that the second argument names. The first is the server's URL."""

import json
import re
import sys
import urllib.request

try:
    import graphql
except ImportError:
    print("NOT CHECKED: the schema with graphql-core, because Python has no package graphql (3.2)")
    sys.exit(0)
if not graphql.__version__.startswith("3."):
    print(f"NOT CHECKED: the schema with graphql-core, because Python has version {graphql.__version__} and not 3.2")
    sys.exit(0)

# The versions have different built-in directives, which builtins_test.go compares.
BUILTIN = r"(^|@|from )(deprecated|include|oneOf|skip|specifiedBy)\b"

url, path = sys.argv[1:]
with open(path, encoding="utf-8") as opened:
    expected = graphql.build_schema(opened.read())


def printed(schema):
    return graphql.print_schema(graphql.lexicographic_sort_schema(schema))


def check(schema, what, is_whole):
    errors = [error.message for error in graphql.validate_schema(schema)]
    for a, b in ((expected, schema), (schema, expected)):
        changes = graphql.find_breaking_changes(a, b) + graphql.find_dangerous_changes(a, b)
        errors += [change.description for change in changes if not re.search(BUILTIN, change.description)]
    if is_whole and printed(schema) != printed(expected):
        errors.append("the schema is not that of the file")
    if errors:
        sys.exit(f"graphql-core {graphql.__version__}, {what}: {errors[0]}")


with urllib.request.urlopen(url + "/schema.graphql") as response:
    check(graphql.build_schema(response.read().decode()), "/schema.graphql", True)

options = ["descriptions", "specified_by_url", "directive_is_repeatable", "schema_description", "input_value_deprecation"]
built = 0
choices = [[], options] + [[o] for o in options] + [[other for other in options if other != o] for o in options]
for chosen in choices:
    choice = {name: name in chosen for name in options}
    what = f"introspection with {chosen}"
    body = json.dumps({"query": graphql.get_introspection_query(**choice)}).encode()
    request = urllib.request.Request(url + "/graphql", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as response:
        answer = json.load(response)
    if "errors" in answer:
        sys.exit(f"graphql-core {graphql.__version__}, {what}: {answer['errors'][0]['message']}")
    try:
        schema = graphql.build_client_schema(answer["data"])
    except (TypeError, ValueError) as error:
        sys.exit(f"graphql-core {graphql.__version__}, {what}: {error}")
    check(schema, what, chosen == options)
    built += 1
print(f"graphql-core {graphql.__version__}: /schema.graphql and {built} introspections")
