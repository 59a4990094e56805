// Requests to the API, for any client library.
import { name, renew, token } from "./account";

// send is a fetch that adds the account's token, and what the account has written. It sends a request
// again if the token was renewed, if the server asks for a wait, or if the answer was lost.
export async function send(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  for (let tries = 1; ; tries++) {
    const isLast = tries === 5 || init.signal?.aborted;
    try {
      const response = await sendOnce(input, init);
      const waitMs = await waitOf(response, init);
      if (response.status === 401 && name && tries === 1) await renew().catch(() => {}); // the answer then has an error
      else if (isLast || waitMs === undefined) return response;
      else await sleep(waitMs);
    } catch (error) {
      if (isLast || !isRepeatable(init)) throw error;
      await sleep(pauseOf(tries));
    }
  }
}

// pauseOf returns the time before the next try, in ms.
const pauseOf = (tries: number) => 100 * 2 ** tries;

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

// waitOf returns the time after which a request can be sent again, or undefined. If the header
// Retry-After says so, nothing was executed.
async function waitOf(response: Response, init: RequestInit): Promise<number | undefined> {
  const seconds = response.headers.get("Retry-After");
  if (seconds !== null) return 1000 * Number(seconds);
  if (!isRepeatable(init)) return undefined;
  const wait = (await response.clone().text()).match(/"retryAfterMs":(\d+)/);
  return wait ? Number(wait[1]) : undefined;
}

// isRepeatable reports whether a request can be sent twice. A mutation without a key could happen twice.
function isRepeatable({ method, body }: RequestInit): boolean {
  if (method === "GET") return true;
  const { query = "", variables } = JSON.parse(body as string);
  return /^\s*(query\b|{)/.test(query) || Boolean(variables?.input?.idempotencyKey);
}

// The answer to a mutation has a session token, which tells all servers what the account has written.
// Requests send it, so that their answers have that too. The token of an answer includes those that its
// request sent, so there are several only if mutations ran at the same time.
const header = "Cosmosblog-Session";
const key = `written by ${name}`;
const sessions = (): string[] => JSON.parse(localStorage.getItem(key) ?? "[]");

async function sendOnce(input: RequestInfo | URL, init: RequestInit, sent = sessions()): Promise<Response> {
  const headers = new Headers(init.headers);
  const bearer = await token();
  if (bearer) headers.set("Authorization", `Bearer ${bearer}`);
  if (sent.length > 0) headers.set(header, sent.join());
  const response = await fetch(input, { ...init, headers });
  if (!response.headers.get("Content-Type")?.includes("json")) { // of a proxy, for example
    throw new Error(`The API cannot be reached (status ${response.status}).`);
  }
  const received = response.headers.get(header);
  // A server that cannot read the header, as after an upgrade, has executed nothing.
  const isRefused = sent.length > 0 && response.status === 400 && (await response.clone().text()).includes(header);
  if (received || isRefused) {
    const kept = [...sessions().filter((session) => !sent.includes(session)), ...(received ? [received] : [])];
    localStorage.setItem(key, JSON.stringify(kept.join().length > 4096 ? kept.slice(-1) : kept));
  }
  return isRefused ? sendOnce(input, init, []) : response;
}
