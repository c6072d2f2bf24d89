// oidc-provider with a form for name and password.

import { createServer } from 'node:http'
import Provider from 'oidc-provider'

const { PORT, PORTICO, SECRET, PASSWORD } = process.env
const issuer = `http://127.0.0.1:${PORT}`
const groups = { ada: ['Family'], bob: [] }

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: 'portico',
      client_secret: SECRET,
      redirect_uris: [`${PORTICO}/api/auth/oidc/callback`],
      response_types: ['code'],
      grant_types: ['authorization_code'],
    },
  ],
  claims: { openid: ['sub'], profile: ['preferred_username', 'groups'], email: ['email'] },
  cookies: { keys: ['a key of the tests'] },
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  findAccount: (_, id) =>
    groups[id] && {
      accountId: id,
      claims: () => ({ sub: id, preferred_username: id, email: `${id}@example.com`, groups: groups[id] }),
    },
})

const form = (fields) => `<!doctype html><form method="post">${fields}<button type="submit">Go on</button></form>`

async function interact(request, response) {
  const details = await provider.interactionDetails(request, response)
  const isLogin = details.prompt.name === 'login'
  if (request.method === 'GET') {
    response.setHeader('content-type', 'text/html')
    return response.end(form(isLogin ? '<input name="login"><input type="password" name="password">' : ''))
  }
  const body = new URLSearchParams(Buffer.concat(await request.toArray()).toString())
  if (!isLogin) {
    const grant = new provider.Grant({ accountId: details.session.accountId, clientId: details.params.client_id })
    grant.addOIDCScope(details.params.scope)
    return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } })
  }
  if (!groups[body.get('login')] || body.get('password') !== PASSWORD) {
    response.statusCode = 401
    return response.end('wrong name or password')
  }
  await provider.interactionFinished(request, response, { login: { accountId: body.get('login') } })
}

createServer((request, response) => {
  if (!request.url.startsWith('/interaction/')) return provider.callback()(request, response)
  interact(request, response).catch((error) => response.writeHead(500).end(String(error)))
}).listen(PORT, '127.0.0.1')
