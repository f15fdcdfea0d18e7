import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import type { AuthHint } from './index.ts'
import { resolved } from './references.ts'
import { shortText } from './schema.ts'

// Converts the security schemes of a document to kinds of credentials.

const MAX_SCHEMES = 20
const MAX_SCOPES = 200

const httpsOnly = (address: Json | undefined): string | undefined =>
  typeof address === 'string' && URL.canParse(address) && new URL(address).protocol === 'https:' ? address : undefined

const scopesOf = (flow: JsonObject): Json[] =>
  isObject(flow.scopes)
    ? Object.keys(flow.scopes)
        .slice(0, MAX_SCOPES)
        .map((scope) => scope.slice(0, 200))
    : []

function oauthHints(title: string, flows: JsonObject): AuthHint[] {
  const hints: AuthHint[] = []
  for (const [name, flow] of Object.entries(flows)) {
    if (!isObject(flow)) continue
    const token_url = httpsOnly(flow.tokenUrl)
    const authorize_url = httpsOnly(flow.authorizationUrl)
    const scopes = scopesOf(flow)
    if (/^(authorizationCode|accessCode)$/.test(name) && token_url && authorize_url)
      hints.push({ kind: 'oauth2_code', title, config: { authorize_url, token_url, scopes } })
    else if (/^(clientCredentials|application)$/.test(name) && token_url)
      hints.push({ kind: 'oauth2_client', title, config: { token_url, scopes } })
  }
  return hints.length > 0 ? hints : [{ kind: 'bearer', title, config: {} }]
}

function hintsOf(name: string, scheme: JsonObject): AuthHint[] {
  const title = shortText(scheme.description, 100) || name.slice(0, 100)
  const key = typeof scheme.name === 'string' ? scheme.name.slice(0, 100) : ''
  switch (scheme.type) {
    case 'http':
      return [{ kind: String(scheme.scheme).toLowerCase() === 'basic' ? 'basic' : 'bearer', title, config: {} }]
    case 'basic':
      return [{ kind: 'basic', title, config: {} }]
    case 'apiKey':
      if (scheme.in === 'query') return [{ kind: 'query', title, config: { name: key } }]
      if (scheme.in === 'header') return [{ kind: 'header', title, config: { name: key } }]
      return [{ kind: 'header', title, config: { name: 'Cookie', prefix: `${key}=` } }]
    case 'oauth2':
      // Swagger 2 has a single flow, in the scheme itself.
      return oauthHints(title, isObject(scheme.flows) ? scheme.flows : { [String(scheme.flow)]: scheme })
    case 'openIdConnect':
      return [{ kind: 'bearer', title, config: {} }]
    case 'mutualTLS':
      return [{ kind: 'tls_client', title, config: {} }]
    default:
      return []
  }
}

export function authOf(document: JsonObject): AuthHint[] {
  const components = isObject(document.components) ? document.components : {}
  const schemes = document.swagger === undefined ? components.securitySchemes : document.securityDefinitions
  return Object.entries(isObject(schemes) ? schemes : {})
    .slice(0, MAX_SCHEMES)
    .flatMap(([name, scheme]) => hintsOf(name, resolved(document, scheme) ?? {}))
}

/** Checks whether a credential is required. An empty list, or an empty alternative, means that none is required. */
export const requiresCredential = (security: Json | undefined): boolean =>
  Array.isArray(security) &&
  security.length > 0 &&
  security.every((choice) => isObject(choice) && Object.keys(choice).length > 0)
