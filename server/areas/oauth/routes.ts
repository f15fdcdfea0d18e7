import { z } from 'zod'
import { anyone, viewer } from '#platform/access/rules'
import type { Context } from '#platform/http/context'
import { type AnyRoute, type Exchange, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import { answerWith, readForm } from './refusal.ts'
import { registerClient } from './registration.ts'
import {
  AuthorizationQuery,
  AuthorizationRequest,
  ClientMetadata,
  Decision,
  grantList,
  IssuedTokens,
  OAuthError,
  OAuthGrant,
  Redirect,
  RegisteredClient,
  ResourceMetadata,
  RevocationRequest,
  ServerMetadata,
  TokenRequest,
} from './schema.ts'
import {
  decideAuthorization,
  deleteOAuthGrant,
  describeResource,
  describeServer,
  getAuthorizationRequest,
  getOAuthGrant,
  listOAuthGrants,
} from './service.ts'
import { exchangeToken, revokeToken } from './tokens.ts'

type Body = { body: Buffer }

const exampleRequest = {
  client_id: 'oac_01kf3v6h2he3wtpk1fw5c0wz9d',
  redirect_uri: 'http://127.0.0.1:8123/callback',
  response_type: 'code',
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
}

/** Routes that programs call, as OAuth 2.1 specifies. */
const programRoutes = (): AnyRoute[] =>
  routes(
    'MCP',
    {
      describeMcpResource: ['GET', '/.well-known/oauth-protected-resource/mcp', anyone],
      describeAuthorizationServer: ['GET', '/.well-known/oauth-authorization-server', anyone],
      registerOAuthClient: ['POST', '/oauth/register', anyone],
      exchangeOAuthToken: ['POST', '/oauth/token', anyone],
      revokeOAuthToken: ['POST', '/oauth/revoke', anyone],
    },
    {
      describeMcpResource: {
        summary: 'Where tokens for /mcp come from (RFC 9728)',
        extension: true,
        answer: ResourceMetadata,
        run: describeResource,
      },
      describeAuthorizationServer: {
        summary: 'How programs get tokens for /mcp (RFC 8414)',
        extension: true,
        answer: ServerMetadata,
        run: describeServer,
      },
      registerOAuthClient: {
        summary: 'Register a program that wants to call /mcp (RFC 7591)',
        description:
          'JSON with `redirect_uris` (https, http on localhost, or the scheme of a program on the device) and `client_name`. The response contains `client_id`; there is no secret. Errors are `{error, error_description}`. A registration that no person has allowed is deleted after a day, or earlier if 10,000 newer ones have not been allowed either.',
        extension: true,
        bodyKind: 'any',
        consumes: ['application/json'],
        described: { json: ClientMetadata, answers: { 201: RegisteredClient, 400: OAuthError } },
        produces: ['application/json'],
        transaction: false,
        idempotency: 'none',
        rate: 'sign_up',
        status: 201,
        examples: { body: { redirect_uris: ['http://127.0.0.1:8123/callback'], client_name: 'Loom Desk' } },
        run: (ctx: Context, { body }: Body, { reply }: Exchange) =>
          answerWith(reply, 201, () => registerClient(ctx, body)),
      },
      exchangeOAuthToken: {
        summary: 'Exchange a code or a refresh token for an access token',
        description:
          'Form fields `grant_type`, `client_id`, and `code`, `code_verifier`, `redirect_uri` or `refresh_token`; `resource` is the address of /mcp. An access token lasts an hour and opens /mcp alone. A refresh token is used once; one that comes back ends the grant. Refusals are `{error, error_description}`.',
        extension: true,
        bodyKind: 'any',
        consumes: ['application/x-www-form-urlencoded'],
        described: { form: TokenRequest, answers: { 200: IssuedTokens, 400: OAuthError, 401: OAuthError } },
        produces: ['application/json'],
        transaction: false,
        idempotency: 'none',
        run: (ctx: Context, { body }: Body, { request, reply }: Exchange) =>
          answerWith(reply, 200, async () => exchangeToken(ctx, readForm(body, request.headers['content-type']))),
      },
      revokeOAuthToken: {
        summary: 'Revoke a token: its grant ends (RFC 7009)',
        description: 'Form fields `token` and `client_id`. The answer is the same whether there was such a token.',
        extension: true,
        bodyKind: 'any',
        consumes: ['application/x-www-form-urlencoded'],
        described: { form: RevocationRequest, answers: { 200: z.object({}), 400: OAuthError, 401: OAuthError } },
        produces: ['application/json'],
        transaction: false,
        idempotency: 'none',
        run: (ctx: Context, { body }: Body, { request, reply }: Exchange) =>
          answerWith(reply, 200, async () => revokeToken(ctx, readForm(body, request.headers['content-type']))),
      },
    },
  )

/** Routes with which the person decides, in the console. */
const personRoutes = (): AnyRoute[] =>
  routes(
    'MCP',
    {
      getAuthorizationRequest: ['GET', '/api/oauth/authorization', viewer('workspace')],
      decideAuthorization: ['POST', '/api/oauth/authorization', viewer('workspace'), 'admin'],
      listOAuthGrants: ['GET', '/api/oauth/grants', viewer('workspace')],
      getOAuthGrant: ['GET', '/api/oauth/grants/:grant_id', viewer('workspace')],
      deleteOAuthGrant: ['DELETE', '/api/oauth/grants/:grant_id', viewer('workspace'), 'admin'],
    },
    {
      getAuthorizationRequest: {
        summary: 'What a program asks for, and which workflows it would get',
        extension: true,
        query: AuthorizationQuery,
        answer: AuthorizationRequest,
        run: getAuthorizationRequest,
      },
      decideAuthorization: {
        summary: 'Allow or deny a program to call /mcp in the selected workspace',
        description: 'In a browser session only. The program gets a code, which it exchanges within five minutes.',
        extension: true,
        body: Decision,
        answer: Redirect,
        alsoRefuses: [409],
        idempotency: 'none',
        examples: { body: { ...exampleRequest, decision: 'allow' } },
        run: decideAuthorization,
      },
      listOAuthGrants: {
        summary: 'Programs that the caller lets call /mcp in the selected workspace',
        extension: true,
        query: grantList.query,
        answer: page(OAuthGrant),
        run: listOAuthGrants,
      },
      getOAuthGrant: { summary: 'One of these programs', extension: true, answer: OAuthGrant, run: getOAuthGrant },
      deleteOAuthGrant: {
        summary: 'Withdraw the permission; the tokens of the program stop working at once',
        extension: true,
        status: 204,
        current: getOAuthGrant,
        run: deleteOAuthGrant,
      },
    },
  )

export const oauthRoutes = (): AnyRoute[] => [...programRoutes(), ...personRoutes()]
