// An OpenID Connect issuer that signs in everybody at once.
import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const encode = (part) => Buffer.from(JSON.stringify(part)).toString('base64url');

// startIssuer starts an issuer for a client, whose access tokens are for an audience. Each refresh token is
// accepted once, and counted in refreshes. The next person has the subject. If refuses is true, the issuer
// refuses everything.
export async function startIssuer(client, audience) {
  const issuer = { subject: 'olga-1', refuses: false, refreshes: 0 };
  const grants = new Map(); // the authorizations, and the refresh tokens, by their codes
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, issuer.url);
    response.setHeader('Access-Control-Allow-Origin', '*');
    const answer = (status, value) => response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
    if (pathname === '/.well-known/openid-configuration') {
      return answer(200, {
        issuer: issuer.url,
        authorization_endpoint: `${issuer.url}/authorize`,
        token_endpoint: `${issuer.url}/token`,
        jwks_uri: `${issuer.url}/keys`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['EdDSA'],
      });
    }
    if (pathname === '/keys') {
      return answer(200, { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'key', use: 'sig', alg: 'EdDSA' }] });
    }
    if (pathname === '/authorize') {
      const back = new URL(searchParams.get('redirect_uri'));
      back.searchParams.set('state', searchParams.get('state'));
      if (issuer.refuses) back.searchParams.set('error', 'access_denied');
      else if (searchParams.get('client_id') === client && searchParams.get('code_challenge_method') === 'S256') {
        const code = randomUUID();
        grants.set(code, { subject: issuer.subject, challenge: searchParams.get('code_challenge') });
        back.searchParams.set('code', code);
      }
      return response.writeHead(302, { Location: back.href }).end();
    }
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    const isRefresh = form.get('grant_type') === 'refresh_token';
    const code = form.get(isRefresh ? 'refresh_token' : 'code');
    const grant = grants.get(code);
    grants.delete(code);
    const challenge = createHash('sha256').update(form.get('code_verifier') ?? '').digest('base64url');
    if (!grant || issuer.refuses || (!isRefresh && challenge !== grant.challenge)) return answer(400, { error: 'invalid_grant' });
    if (isRefresh) issuer.refreshes++;
    const refresh = randomUUID();
    grants.set(refresh, grant);
    const token = (aud) => {
      const iat = Math.floor(Date.now() / 1000);
      const claims = { iss: issuer.url, sub: grant.subject, aud, iat, exp: iat + 3600 };
      const signed = `${encode({ alg: 'EdDSA', typ: 'JWT', kid: 'key' })}.${encode(claims)}`;
      return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`;
    };
    return answer(200, { access_token: token(audience), id_token: token(client), refresh_token: refresh, token_type: 'Bearer', scope: 'openid' });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  server.unref();
  issuer.url = `http://127.0.0.1:${server.address().port}`;
  return issuer;
}
