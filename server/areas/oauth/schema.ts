import { z } from 'zod'
import { defineList } from '#platform/http/list'
import { id, timestamp } from '#platform/http/schema'

/** The only scope: a program may call /mcp, and nothing else. */
export const SCOPE = 'mcp:run'

export const ResourceMetadata = z
  .object({
    resource: z.string().describe('The address that tokens are for'),
    resource_name: z.string().describe('Its name for people'),
    authorization_servers: z.array(z.string()).describe('Where tokens come from'),
    scopes_supported: z.array(z.string()).describe('The only scope there is'),
    bearer_methods_supported: z.array(z.string()).describe('Tokens are sent in the header Authorization'),
  })
  .meta({ id: 'ProtectedResourceMetadata' })

export const ServerMetadata = z
  .object({
    issuer: z.string().describe('The address of this service'),
    authorization_endpoint: z.string().describe('The page on which a person allows a program'),
    token_endpoint: z.string().describe('Where codes and refresh tokens are exchanged'),
    registration_endpoint: z.string().describe('Where programs register themselves'),
    revocation_endpoint: z.string().describe('Where programs give tokens back'),
    response_types_supported: z.array(z.string()).describe('Codes only'),
    grant_types_supported: z.array(z.string()).describe('Codes and refresh tokens'),
    code_challenge_methods_supported: z.array(z.string()).describe('S256 only; a challenge is required'),
    token_endpoint_auth_methods_supported: z.array(z.string()).describe('Programs have no secret'),
    revocation_endpoint_auth_methods_supported: z.array(z.string()).describe('Likewise'),
    scopes_supported: z.array(z.string()).describe('The only scope there is'),
    authorization_response_iss_parameter_supported: z.boolean().describe('The way back names this service as `iss`'),
  })
  .meta({ id: 'AuthorizationServerMetadata' })

/** What a program states about itself. Other fields are ignored. */
export const ClientMetadata = z
  .looseObject({
    redirect_uris: z.array(z.string()).min(1).max(10).describe('Where browsers may be sent back to'),
    client_name: z.string().optional().describe('Its name for people, up to 100 characters of it'),
  })
  .meta({ id: 'OAuthClientMetadata' })

export const RegisteredClient = z
  .object({
    client_id: z.string(),
    client_id_issued_at: z.number().int().describe('When it was registered, in seconds since 1970'),
    client_name: z.string().describe('Its name for people'),
    redirect_uris: z.array(z.string()).describe('Where browsers may be sent back to'),
    grant_types: z.array(z.string()).describe('Codes and refresh tokens'),
    response_types: z.array(z.string()).describe('Codes only'),
    token_endpoint_auth_method: z.literal('none').describe('Programs have no secret'),
    scope: z.string().describe('The only scope there is'),
  })
  .meta({ id: 'OAuthClient' })

export const TokenRequest = z.object({
  grant_type: z.enum(['authorization_code', 'refresh_token']).describe('What is exchanged'),
  client_id: z.string(),
  code: z.string().optional().describe('With `authorization_code`: the code of the authorization page'),
  code_verifier: z.string().optional().describe('With `authorization_code`: the secret behind `code_challenge`'),
  redirect_uri: z.string().optional().describe('With `authorization_code`: as on the authorization page'),
  refresh_token: z.string().optional().describe('With `refresh_token`: the token, which is then used up'),
  resource: z.string().optional().describe('The address of /mcp'),
})

export const IssuedTokens = z
  .object({
    access_token: z.string().describe('The token for /mcp'),
    token_type: z.literal('Bearer').describe('How the token is sent'),
    expires_in: z.number().int().describe('How long the access token lasts, in seconds'),
    refresh_token: z.string().describe('Exchanged once for the next tokens'),
    scope: z.string().describe('The only scope there is'),
  })
  .meta({ id: 'OAuthTokens' })

export const RevocationRequest = z.object({
  token: z.string().describe('An access or refresh token'),
  client_id: z.string(),
})

export const OAuthError = z
  .object({
    error: z.string().describe('The code that RFC 6749 or RFC 7591 defines'),
    error_description: z.string().describe('What is wrong, as text'),
  })
  .meta({ id: 'OAuthError' })

/**
 * The query of the authorization page. All values are text, since they come from an unknown program through a browser.
 */
const asked = {
  client_id: z.string().max(200).describe('The program, as it registered'),
  redirect_uri: z
    .string()
    .max(2000)
    .describe('The address to which the browser returns; one of the registered addresses'),
  response_type: z.string().max(50).describe('`code`'),
  code_challenge: z.string().max(200).describe('SHA-256 of a secret that the program keeps, in base64url'),
  code_challenge_method: z.string().max(20).describe('`S256`'),
  state: z.string().max(2000).optional().describe('Given back to the program as it is'),
  scope: z.string().max(500).optional().describe('`mcp:run`; more is not given'),
  resource: z.string().max(2000).optional().describe('The address of /mcp'),
}

export const AuthorizationQuery = z.strictObject(asked)
export type Asked = z.output<typeof AuthorizationQuery>

export const AuthorizationRequest = z
  .object({
    client_id: z.string().describe('The program'),
    client_name: z.string().describe('What it calls itself. Nobody has checked that'),
    redirect_to: z.string().describe('The host, or the program on this device, that gets the answer'),
    workspace_id: id('ws').describe('The workspace whose workflows it would call'),
    workflows: z
      .array(z.object({ workflow_id: id('wf'), name: z.string() }))
      .describe('The tools that it would have now: workflows with `settings.mcp_tool` that the caller may run'),
    already_allowed: z.boolean().describe('The caller allowed it here before'),
  })
  .meta({ id: 'AuthorizationRequest' })

export const Decision = z
  .strictObject({ ...asked, decision: z.enum(['allow', 'deny']).describe('What the person chose') })
  .meta({ id: 'AuthorizationDecision' })
export type Decision = z.output<typeof Decision>

export const Redirect = z.object({ redirect_url: z.string().describe('Where to send the browser') })

export const OAuthGrant = z
  .object({
    grant_id: id('ogr'),
    client_name: z.string().describe('What the program calls itself'),
    created_at: timestamp(),
    last_used_at: timestamp().nullable().describe('When it last got a token'),
  })
  .meta({ id: 'OAuthGrant' })
export type OAuthGrant = z.input<typeof OAuthGrant>

export const grantList = defineList({
  id: 'grant_id',
  search: ['client_name'],
  sort: { created_at: 'id', client_name: 'text' },
  order: '-created_at',
})
