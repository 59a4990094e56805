// Reads documents from standard input, one JSON value a line, and says what graphql-js 16 and 17
// make of each. The first line has the schema, the descriptions of built-in types and a snapshot of
// the server's data, over which the resolvers below answer. Each answer has for each version:
//
//   phase    "parse", "validation", "request" (an operation or a variable) or "run"
//   rules    the rules that refuse the document, in phase "validation"
//   message  the first error, if it does not run
//   data     the answer's data, as JSON text, if it runs
import { createInterface } from "node:readline";
import * as graphql16 from "graphql-16";
import * as graphql17 from "graphql-17";
import { rootOf } from "./resolvers.js";

const versions = { v16: graphql16, v17: graphql17 };
const schemas = {};
let root;

const lines = createInterface({ input: process.stdin, crlfDelay: Infinity });
let isFirst = true;
for await (const line of lines) {
  const message = JSON.parse(line);
  if (isFirst) {
    isFirst = false;
    root = rootOf(message.snapshot);
    for (const [name, graphql] of Object.entries(versions)) {
      schemas[name] = graphql.buildSchema(message.schema);
      removeNewer(schemas[name]);
      describe(schemas[name], message.builtins);
    }
    process.stdout.write(JSON.stringify(rulesOf(graphql17).map(ruleName)) + "\n");
    continue;
  }
  const answer = {};
  for (const [name, graphql] of Object.entries(versions)) {
    answer[name] = await judge(graphql, schemas[name], message);
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}

// removeNewer removes what the edition of September 2025 has not (sections 3.13 and 4.2): deprecated
// directives, and variables of fragments.
function removeNewer(schema) {
  const newer = ["DIRECTIVE_DEFINITION", "FRAGMENT_VARIABLE_DEFINITION"];
  const remove = (list, isNewer) => list.splice(0, list.length, ...list.filter((element) => !isNewer(element)));
  remove(schema.getType("__DirectiveLocation").getValues(), ({ name }) => newer.includes(name));
  remove(schema.getDirective("deprecated").locations, (location) => newer.includes(location));
  remove(schema.getType("__Schema").getFields().directives.args, () => true);
  const fields = schema.getType("__Directive").getFields();
  delete fields.isDeprecated;
  delete fields.deprecationReason;
}

// describe gives the built-in types and directives the server's descriptions, because the
// specification leaves these texts open.
function describe(schema, builtins) {
  const texts = new Map(builtins.types.map((type) => [type.name, type]));
  for (const type of Object.values(schema.getTypeMap())) {
    const isScalar = ["String", "Int", "Float", "Boolean", "ID"].includes(type.name);
    if (!isScalar && !type.name.startsWith("__")) continue;
    const known = texts.get(type.name);
    if (!known) continue;
    type.description = known.description;
    if (type.getFields) copy(Object.values(type.getFields()), known.fields);
    if (type.getValues) copy(type.getValues(), known.enumValues);
  }
  const builtin = ["skip", "include", "deprecated", "specifiedBy", "oneOf"];
  copy(schema.getDirectives().filter(({ name }) => builtin.includes(name)), builtins.directives);
}

function copy(elements, known) {
  for (const element of elements) {
    const found = known?.find(({ name }) => name === element.name);
    if (!found) continue;
    element.description = found.description;
    if (element.args) copy(element.args, found.args);
  }
}

function ruleName({ name }) {
  return name.replace(/Rule$/, "");
}

// rulesOf returns the rules of the specification. That of the depth of introspection is graphql-js's
// own.
function rulesOf(graphql) {
  return graphql.specifiedRules.filter(({ name }) => name !== "MaxIntrospectionDepthRule");
}

// validate returns the errors of rules. In version 16, the rule of subscriptions throws if a condition
// of a root field is a variable: then it has one error.
function validate(graphql, schema, document, rules) {
  try {
    return graphql.validate(schema, document, rules);
  } catch (error) {
    return [error];
  }
}

async function judge(graphql, schema, { query, operationName, variables, isRun }) {
  let document;
  try {
    document = graphql.parse(query);
  } catch (error) {
    return { phase: "parse", message: error.message };
  }
  const errors = validate(graphql, schema, document, rulesOf(graphql));
  if (errors.length > 0) {
    const broken = rulesOf(graphql).filter((rule) => validate(graphql, schema, document, [rule]).length > 0);
    return { phase: "validation", rules: broken.map(ruleName), message: errors[0].message };
  }
  const operations = document.definitions.filter(({ kind }) => kind === "OperationDefinition");
  const name = operationName ?? undefined;
  const operation = name === undefined && operations.length === 1 ? operations[0] : operations.find((o) => o.name?.value === name && name !== undefined);
  if (!operation) return { phase: "request", message: "no such operation" };
  let values = variables === undefined ? undefined : JSON.parse(variables);
  const coerced = graphql.getVariableValues(schema, operation.variableDefinitions ?? [], values ?? {});
  if (coerced.errors) return { phase: "request", message: coerced.errors[0].message };
  if (!isRun) return { phase: "run" };
  const executed = await graphql.execute({ schema, document, rootValue: root, operationName: name, variableValues: values });
  return { phase: "run", data: JSON.stringify(executed.data), message: executed.errors?.[0].message };
}
