// Runs all audits against the API at the URL of the first argument and prints each result. It
// fails unless every audit passes, including those for SHOULD and MAY.
import { setTimeout } from "node:timers/promises";
import { auditServer } from "graphql-http";

const audits = 61; // of graphql-http 1.23.1
const url = process.argv[2];

const isReady = () => fetch(new URL("/readyz", url)).then((response) => response.ok, () => false);
for (let tries = 0; !(await isReady()); tries++) {
  if (tries === 300) throw new Error("the server was not ready after 30 s");
  await setTimeout(100);
}

const results = await auditServer({ url });
for (const { id, name, status, reason } of results) {
  console.log(`${status.padEnd(6)} ${id} ${name}${reason ? `: ${reason}` : ""}`);
}
const good = results.filter(({ status }) => status === "ok").length;
console.log(`${good} of ${results.length} audits passed`);
process.exitCode = good === audits && results.length === audits ? 0 : 1;
