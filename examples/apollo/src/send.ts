// Requests to the API, for any client library.
import { name, renew, subject, token } from "./account";

// send is a fetch that adds the account's token, and what the account has written. It sends a request
// again if the token was renewed, if the server asks for a wait, or if the answer was lost. An answer is
// lost after 20 s.
export async function send(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  let isRenewed = false;
  for (let tries = 1; ; tries++) {
    const isLast = tries === 5 || init.signal?.aborted;
    try {
      const bearer = await token();
      const response = await sendOnce(input, init, bearer);
      const waitMs = await waitOf(response, init);
      if (response.status === 401 && name && !isRenewed) {
        isRenewed = true;
        await renew(bearer).catch(() => {}); // the next answer then has the error
      } else if (isLast || waitMs === undefined) return response;
      else await sleep(waitMs);
    } catch (error) {
      if (isLast || !isRepeatable(init)) throw error;
      await sleep(100 * 2 ** tries);
    }
  }
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

// waitOf returns the time after which a request can be sent again, or undefined. With the status 429 or
// 503 and an error of the API, nothing was executed.
async function waitOf(response: Response, init: RequestInit): Promise<number | undefined> {
  const wasRefused = response.status === 429 || response.status === 503;
  if (!wasRefused && !isRepeatable(init)) return undefined;
  const wait = (await response.clone().text()).match(/"retryAfterMs":(\d+)/);
  return wait ? Math.min(Number(wait[1]), 30_000) : undefined;
}

// isRepeatable reports whether a request can be sent twice. A mutation without a key could happen twice.
function isRepeatable({ method, body }: RequestInit): boolean {
  if (method === "GET") return true;
  const { query = "", variables } = JSON.parse(body as string);
  return /^\s*(query\b|{)/.test(query) || Boolean(variables?.input?.idempotencyKey);
}

// The answer to a mutation has a session token, which tells all servers what the account has written.
// Requests send it, so that their answers have that too. The token of an answer includes those that its
// request sent, so there are several only if mutations ran at the same time. They are forgotten at
// sign-out.
const header = "Cosmosblog-Session";
const key = "written";

function sessions(): string[] {
  const written = JSON.parse(localStorage.getItem(key) ?? "null");
  return written?.subject === subject ? (written?.sessions ?? []) : [];
}

if (!subject) localStorage.removeItem(key);

async function sendOnce(
  input: RequestInfo | URL,
  init: RequestInit,
  bearer: string | undefined,
  sent = sessions(),
): Promise<Response> {
  const headers = new Headers(init.headers);
  if (bearer) headers.set("Authorization", `Bearer ${bearer}`);
  if (sent.length > 0) headers.set(header, sent.join());
  const late = AbortSignal.timeout(20_000);
  const signal = init.signal ? AbortSignal.any([init.signal, late]) : late;
  const response = await fetch(input, { ...init, headers, signal });
  if (!response.headers.get("Content-Type")?.includes("json")) { // of a proxy, for example
    throw new Error(`The API cannot be reached (status ${response.status}).`);
  }
  const received = response.headers.get(header);
  // A server that cannot read the header, as after an upgrade, has executed nothing.
  const isRefused = sent.length > 0 && response.status === 400 && (await response.clone().text()).includes(header);
  if (subject && (received || isRefused)) {
    const all = [...sessions().filter((session) => !sent.includes(session)), ...(received ? [received] : [])];
    const kept = all.join().length > 4096 ? all.slice(-1) : all;
    localStorage.setItem(key, JSON.stringify({ subject, sessions: kept }));
  }
  return isRefused ? sendOnce(input, init, bearer, []) : response;
}
