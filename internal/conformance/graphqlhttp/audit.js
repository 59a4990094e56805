// Asks the server whose API is at the first argument all that the audits ask, prints what each finds, and fails on
// anything but ok: a SHOULD and a MAY count as a MUST does.
import { setTimeout } from "node:timers/promises";
import { auditServer } from "graphql-http";

const audits = 61; // of graphql-http 1.23.1
const url = process.argv[2];

const isReady = () => fetch(new URL("/readyz", url)).then((answer) => answer.ok, () => false);
for (let tries = 0; !(await isReady()); tries++) {
  if (tries === 300) throw new Error("the server is not ready after 30 s");
  await setTimeout(100);
}

const results = await auditServer({ url });
for (const { id, name, status, reason } of results) {
  console.log(`${status.padEnd(6)} ${id} ${name}${reason ? `: ${reason}` : ""}`);
}
const good = results.filter(({ status }) => status === "ok").length;
console.log(`${good} of ${results.length} audits are ok`);
process.exitCode = good === audits && results.length === audits ? 0 : 1;
