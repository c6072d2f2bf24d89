// An OpenID Connect issuer for tests: the certified oidc-provider as it is, and in front of it what makes it
// misbehave when a test says so. It writes its URL to the standard output and ends with its standard input.

import { createServer } from 'node:http'
import { once } from 'node:events'
import { exportJWK, generateKeyPair, importJWK, decodeJwt, SignJWT } from 'jose'
import Provider from 'oidc-provider'

const CLIENT = { id: 'portico', secret: 'a secret of the client' }

/** What a test says: who there is, and how the issuer behaves. */
let people = {}
let behaviour = {}
/** How often what was asked for. */
let asked = {}

let keys = []
let issuer
let provider

async function newKey() {
  const { algorithm: alg = 'RS256', kid = `key ${keys.length + 1}` } = behaviour
  const { privateKey } = await generateKeyPair(alg, { extractable: true })
  return { ...(await exportJWK(privateKey)), kid, alg, use: 'sig' }
}

async function renew({ rotate }) {
  if (rotate) keys.push(await newKey())
  provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: ['http://127.0.0.1:1/api/auth/oidc/callback'],
        response_types: ['code'],
        grant_types: ['authorization_code'],
        id_token_signed_response_alg: keys.at(-1).alg,
        ...(behaviour.signsUserinfo && { userinfo_signed_response_alg: keys.at(-1).alg }),
      },
    ],
    // The newest key signs, and only that one is shown.
    jwks: { keys: [keys.at(-1)] },
    claims: {
      openid: ['sub'],
      profile: ['preferred_username', 'picture', 'groups'],
      email: ['email', 'email_verified'],
    },
    // Whether the ID token holds what userinfo does.
    conformIdTokenClaims: !behaviour.claimsInToken,
    cookies: { keys: ['a key of the tests'] },
    pkce: { required: () => true },
    features: { jwtUserinfo: { enabled: true } },
    findAccount: (_, id) => people[id] && { accountId: id, claims: () => ({ sub: id, ...people[id] }) },
  })
  // The service has another port in each test.
  provider.Client.prototype.redirectUriAllowed = (uri) =>
    /^http:\/\/127\.0\.0\.1:\d+\/api\/auth\/oidc\/callback$/.test(uri)
  provider.Client.prototype.postLogoutRedirectUriAllowed = (uri) =>
    /^http:\/\/127\.0\.0\.1:\d+\/sign-in\?local$/.test(uri)
}

/** The answer to a token request, with another ID token in it. */
async function tampered(body) {
  const answer = JSON.parse(body)
  if (!answer.id_token) return body
  const key = keys.at(-1)
  const claims = { ...decodeJwt(answer.id_token), ...behaviour.claims }
  const header = { alg: 'RS256', kid: key.kid, ...behaviour.header }
  const secret = new TextEncoder().encode(CLIENT.secret)
  if (header.alg === 'none') {
    const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')
    answer.id_token = `${part(header)}.${part(claims)}.`
  } else {
    const signer = header.alg === 'HS256' ? secret : await importJWK(behaviour.foreignKey ? await newKey() : key)
    answer.id_token = await new SignJWT(claims).setProtectedHeader(header).sign(signer)
  }
  return JSON.stringify(answer)
}

/** Hands a request over to the provider, and what comes back to `change`. */
function changed(request, response, change) {
  const parts = []
  const end = response.end.bind(response)
  response.write = (part) => parts.push(Buffer.from(part))
  response.end = async (part) => {
    if (part) parts.push(Buffer.from(part))
    const body = await change(Buffer.concat(parts).toString())
    if (!response.headersSent) response.setHeader('content-length', Buffer.byteLength(body))
    end(body)
  }
  provider.callback()(request, response)
}

/** `POST /control {people, behaviour, rotate, forget}` answers how often what was asked for. */
async function control(request, response) {
  const parts = await request.toArray()
  const said = JSON.parse(Buffer.concat(parts).toString())
  people = said.people ?? people
  if (said.forget) asked = {}
  if (said.behaviour) behaviour = said.behaviour
  if (said.behaviour || said.rotate) await renew(said)
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(asked))
}

const server = createServer((request, response) => {
  const path = new URL(request.url, issuer).pathname
  asked[path] = (asked[path] ?? 0) + 1
  if (path === '/control') return control(request, response)
  if (behaviour.silentAt === path) return
  if (behaviour.brokenAt === path) {
    response.statusCode = behaviour.status ?? 500
    if (behaviour.refusal) response.setHeader('content-type', 'application/json')
    return response.end(behaviour.refusal ? JSON.stringify(behaviour.refusal) : '<h1>out of order</h1>')
  }
  if (behaviour.hugeAt === path) {
    response.setHeader('content-type', 'application/json')
    return response.end(`{"padding": "${'x'.repeat(4 << 20)}"}`)
  }
  // oidc-provider takes a secret in the header and in the body alike.
  const way = request.headers.authorization ? 'basic' : 'post'
  if (path === '/token' && behaviour.clientAuth && behaviour.clientAuth !== way) {
    response.writeHead(401, { 'content-type': 'application/json' })
    return response.end('{"error": "invalid_client"}')
  }
  const changes = behaviour.claims || behaviour.header || behaviour.foreignKey
  if (path === '/token' && changes) return changed(request, response, tampered)
  if (path === '/.well-known/openid-configuration' && behaviour.discovery) {
    return changed(request, response, (body) => JSON.stringify({ ...JSON.parse(body), ...behaviour.discovery }))
  }
  if (path === '/me' && behaviour.encryptsUserinfo) {
    response.setHeader('content-type', 'application/jwt')
    return response.end('eyJhbGciOiJSU0EtT0FFUCJ9.a2V5.aXY.dGV4dA.dGFn')
  }
  if (path === '/me' && behaviour.breaksUserinfo) {
    return changed(request, response, (body) => body.replace(/[^.]+$/, (signature) => [...signature].reverse().join('')))
  }
  if (path === '/me' && behaviour.userinfo) {
    return changed(request, response, (body) => JSON.stringify({ ...JSON.parse(body), ...behaviour.userinfo }))
  }
  provider.callback()(request, response)
})

server.listen(0, '127.0.0.1')
await once(server, 'listening')
issuer = `http://127.0.0.1:${server.address().port}`
await renew({ rotate: true })
console.log(issuer)
process.stdin.resume()
process.stdin.on('end', () => process.exit())
