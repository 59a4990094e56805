// An OpenID Connect issuer that signs in everybody at once, for the tests of the examples.
import { createHash, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");

// startIssuer starts an issuer for a client, whose tokens are for an audience.
export async function startIssuer(client: string, audience: string) {
  // grants are the authorizations by their codes, which are exchanged once.
  const grants = new Map<string, URLSearchParams>();
  let refresh = ""; // the refresh token, which is accepted once
  let refreshes = 0;
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, url);
    response.setHeader("Access-Control-Allow-Origin", "*");
    const answer = (value: object) => response.setHeader("Content-Type", "application/json").end(JSON.stringify(value));
    switch (pathname) {
      case "/.well-known/openid-configuration":
        return answer({
          issuer: url,
          authorization_endpoint: `${url}/authorize`,
          token_endpoint: `${url}/token`,
          jwks_uri: `${url}/keys`,
          response_types_supported: ["code"],
          subject_types_supported: ["public"],
          id_token_signing_alg_values_supported: ["EdDSA"],
        });
      case "/keys":
        return answer({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: "key", use: "sig", alg: "EdDSA" }] });
      case "/authorize": {
        const code = randomUUID();
        const back = new URL(searchParams.get("redirect_uri")!);
        if (searchParams.get("client_id") !== client || searchParams.get("code_challenge_method") !== "S256") break;
        grants.set(code, searchParams);
        back.searchParams.set("code", code);
        back.searchParams.set("state", searchParams.get("state")!);
        return response.writeHead(302, { Location: back.href }).end();
      }
      case "/token": {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk);
        const form = new URLSearchParams(Buffer.concat(chunks).toString());
        const grant = grants.get(form.get("code")!);
        grants.delete(form.get("code")!);
        const isRefresh = refresh !== "" && form.get("refresh_token") === refresh;
        if (isRefresh) refreshes++;
        const challenge = createHash("sha256").update(form.get("code_verifier") ?? "").digest("base64url");
        if (!isRefresh && challenge !== grant?.get("code_challenge")) break;
        refresh = randomUUID();
        const token = (aud: string) => {
          const iat = Math.floor(Date.now() / 1000);
          const claims = { iss: url, sub: "olga-1", name: "olga", aud, iat, exp: iat + 3600 };
          const signed = `${encode({ alg: "EdDSA", typ: "JWT", kid: "key" })}.${encode(claims)}`;
          return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString("base64url")}`;
        };
        return answer({ access_token: token(audience), id_token: token(client), refresh_token: refresh, token_type: "Bearer", expires_in: 3600, scope: "openid" });
      }
    }
    response.writeHead(400).end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, refreshes: () => refreshes, close: () => (server.closeAllConnections(), server.close()) };
}
