// Signs in by name, which servers in development allow.
import { url } from "./url";

const key = "account";
type Account = { name: string; token: string };
let account: Account | null = JSON.parse(localStorage.getItem(key) ?? "null");

// name is the name of the account, or undefined if nobody is signed in.
export const name = account?.name;

// token returns the account's token.
export const token = async () => account?.token;

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

function store(next: Account | null) {
  account = next;
  if (next) localStorage.setItem(key, JSON.stringify(next));
  else localStorage.removeItem(key);
}

// renew replaces a token that the server has rejected.
export const renew = async () => store(await fetchAccount(name!));

// signIn signs in an account. Any name is one.
export async function signIn(name: string) {
  store(await fetchAccount(name));
  location.reload();
}

export async function signOut() {
  store(null);
  location.reload();
}

// The other tabs follow.
addEventListener("storage", ({ key: changed, newValue }) => {
  if (changed === key && JSON.parse(newValue ?? "null")?.name !== name) location.reload();
});
