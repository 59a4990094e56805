// The person who is signed in, in all tabs of the page. A page that signs in or out is loaded again, so
// nothing remains of what another person could see.

// VITE_ISSUER is the address of an OpenID Connect issuer. Without it, the server signs in by name.
export const { fault, name, renew, signIn, signOut, subject, token } = import.meta.env.VITE_ISSUER
  ? await import("./issuer")
  : await import("./development");
