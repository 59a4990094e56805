// Signs in by name, which servers in development allow.
import { url } from "./url";

const key = "account";
type Account = { name: string; token: string };
const stored = (): Account | null => JSON.parse(localStorage.getItem(key) ?? "null");

// name is the name of the account, or undefined if nobody is signed in. subject identifies it.
export const name = stored()?.name;
export const subject = name;

// fault is why a sign-in has failed before the page was loaded.
export const fault: string | undefined = undefined;

// token returns the account's token.
export const token = async () => stored()?.token;

async function fetchAccount(name: string): Promise<Account> {
  const response = await fetch(new URL("/development/token", url), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ name }),
  });
  const { token, errors } = await response.json().catch(() => ({})); // of a proxy, for example
  if (!token) throw new Error(errors?.[0].message ?? `The API cannot be reached (status ${response.status}).`);
  return { name, token };
}

// renew replaces a token that the server has rejected, unless the person has signed out meanwhile.
export async function renew(rejected: string | undefined) {
  const account = await fetchAccount(name!);
  if (stored()?.token === rejected) localStorage.setItem(key, JSON.stringify(account));
}

// signIn signs in an account. Any name is one.
export async function signIn(name: string) {
  localStorage.setItem(key, JSON.stringify(await fetchAccount(name)));
  location.reload();
}

export async function signOut() {
  localStorage.removeItem(key);
  location.reload();
}

// The other tabs follow.
addEventListener("storage", () => stored()?.name !== name && location.reload());
