// better-auth as an issuer, by its plugin oauth-provider, with a page for name and password.

import { oauthProvider } from '@better-auth/oauth-provider'
import { betterAuth } from 'better-auth'
import { memoryAdapter } from 'better-auth/adapters/memory'
import { getAuthTables } from 'better-auth/db'
import { toNodeHandler } from 'better-auth/node'
import { jwt } from 'better-auth/plugins'
import { createServer } from 'node:http'

const { PORT, PORTICO, SECRET, PASSWORD } = process.env
const url = `http://127.0.0.1:${PORT}`
const groups = { ada: ['Family'], bob: [] }
const emailOf = (name) => `${name}@example.com`

const plugins = [
  jwt(),
  oauthProvider({
    loginPage: '/login',
    consentPage: '/consent',
    generateClientId: () => 'portico',
    generateClientSecret: () => SECRET,
    customIdTokenClaims: ({ user }) => ({ groups: groups[user.name] }),
    silenceWarnings: { oauthAuthServerConfig: true, openidConfig: true },
  }),
]
const options = {
  baseURL: url,
  secret: 'a secret of the tests, which is long enough',
  emailAndPassword: { enabled: true },
  rateLimit: { enabled: false },
  plugins,
}
const tables = Object.keys(getAuthTables(options))
const auth = betterAuth({ ...options, database: memoryAdapter(Object.fromEntries(tables.map((name) => [name, []]))) })

let session
for (const name of Object.keys(groups)) {
  const body = { name, email: emailOf(name), password: PASSWORD }
  session = (await auth.api.signUpEmail({ body, returnHeaders: true })).headers.getSetCookie()
}
// A client belongs to a person.
await auth.api.adminCreateOAuthClient({
  headers: new Headers({ cookie: session.map((cookie) => cookie.split(';')[0]).join('; ') }),
  // Only native clients may be on this machine.
  body: { redirect_uris: [`${PORTICO}/api/auth/oidc/callback`], application_type: 'native', skip_consent: true },
})

/** The page to which better-auth leads people who are not signed in, with the request of the client in its query. */
async function signIn(request, response) {
  if (request.method === 'GET') {
    response.setHeader('content-type', 'text/html')
    return response.end(`<!doctype html><form method="post"><input name="login"><input type="password" name="password">
      <button type="submit">Go on</button></form>`)
  }
  const form = new URLSearchParams(Buffer.concat(await request.toArray()).toString())
  const answer = await auth.handler(
    new Request(`${url}/api/auth/sign-in/email`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: url },
      body: JSON.stringify({
        email: emailOf(form.get('login')),
        password: form.get('password'),
        oauth_query: new URL(request.url, url).searchParams.toString(),
      }),
    }),
  )
  const body = await answer.json()
  if (!answer.ok) return response.writeHead(401).end('wrong name or password')
  response.writeHead(302, { location: body.url, 'set-cookie': answer.headers.getSetCookie() }).end()
}

const handle = toNodeHandler(auth)
createServer((request, response) => {
  if (!request.url.startsWith('/login')) return handle(request, response)
  signIn(request, response).catch((error) => response.writeHead(500).end(String(error)))
}).listen(PORT, '127.0.0.1')
