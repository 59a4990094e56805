// Builds the server's schema as clients do, with graphql-js 15, 16 and 17: from the answers to each
// version's introspection query, with and without each of its options, and from /schema.graphql. All must
// be the schema of the file that the second argument names. The first is the server's URL.
import { readFileSync } from "node:fs";
import * as graphql15 from "graphql-15";
import * as graphql16 from "graphql-16";
import * as graphql17 from "graphql-17";

const [url, path] = process.argv.slice(2);
const file = readFileSync(path, "utf8");
const served = await (await fetch(new URL("/schema.graphql", url))).text();

// Version 15 has specifiedByUrl too, but then asks for a field of that name, which is a draft's.
const common = ["descriptions", "directiveIsRepeatable", "schemaDescription", "inputValueDeprecation"];
const versions = [
  [graphql15, common],
  [graphql16, [...common, "specifiedByUrl", "oneOf"]],
  [graphql17, [...common, "specifiedByUrl", "oneOf"]],
];

// The versions have different built-in directives, which builtins_test.go compares.
const isOfBuiltin = ({ description }) => /(^|@|from )(deprecated|include|oneOf|skip|specifiedBy)\b/.test(description);

// choices returns sets of options: none, all, each alone, and all but each.
function* choices(options) {
  yield [];
  yield options;
  for (const option of options) {
    yield [option];
    yield options.filter((other) => other !== option);
  }
}

let failed = false;
function fail(...what) {
  failed = true;
  console.error(...what);
}

for (const [graphql, options] of versions) {
  const version = `graphql-js ${graphql.version}`;
  // print returns the schema with fields, arguments and values in their own order. Types and directives
  // have none.
  function print(schema) {
    const own = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith("__"));
    return [...own.map(graphql.printType), graphql.printSchema(graphql.lexicographicSortSchema(schema))].sort().join("\n");
  }
  const expected = graphql.buildSchema(file);

  function check(schema, what, isWhole) {
    const errors = graphql.validateSchema(schema);
    if (errors.length > 0) fail(`${version}, ${what}: ${errors[0].message}`);
    const changes = [expected, schema].flatMap((from, i, both) => [
      ...graphql.findBreakingChanges(from, both[1 - i]),
      ...graphql.findDangerousChanges(from, both[1 - i]),
    ]).filter((change) => !isOfBuiltin(change));
    if (changes.length > 0) fail(`${version}, ${what}: ${changes.length} differences to the file, such as: ${changes[0].description}`);
    if (isWhole && print(schema) !== print(expected)) fail(`${version}, ${what}: the schema is not that of the file`);
  }

  check(graphql.buildSchema(served), "/schema.graphql", true);
  let built = 0;
  for (const choice of choices(options)) {
    const chosen = Object.fromEntries(options.map((name) => [name, choice.includes(name)]));
    const what = `introspection with ${choice.join(", ") || "no options"}`;
    const response = await fetch(new URL("/graphql", url), {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ query: graphql.getIntrospectionQuery(chosen) }),
    });
    const { data, errors } = await response.json();
    if (errors) {
      fail(`${version}, ${what}: ${errors[0].message}`);
      continue;
    }
    try {
      check(graphql.buildClientSchema(data), what, choice.includes("specifiedByUrl") && choice.length === options.length);
      built++;
    } catch (error) {
      fail(`${version}, ${what}: ${error.message}`);
    }
  }
  console.log(`${version}: /schema.graphql and ${built} introspections`);
}
process.exitCode = failed ? 1 : 0;
