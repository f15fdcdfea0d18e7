import { z } from 'zod'
import { anyone, signedIn } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import type { Oidc } from './oidc.ts'
import { comesIn, extension } from './route-parts.ts'
import { OidcProviders, returnTo } from './schema.ts'

export const oidcRoutes = (oidc: Oidc): AnyRoute[] =>
  routes(
    'Identity',
    {
      listOidcProviders: ['GET', '/auth/oidc', anyone],
      startOidc: ['GET', '/auth/oidc/:provider/start', anyone],
      finishOidc: ['GET', '/auth/oidc/:provider/callback', anyone],
      linkOidc: ['POST', '/auth/oidc/:provider/link', signedIn, 'admin'],
      unlinkOidc: ['DELETE', '/auth/oidc/:provider/link', signedIn, 'admin'],
    },
    {
      listOidcProviders: {
        extension,
        summary: 'OpenID providers to sign in with',
        answer: OidcProviders,
        run: oidc.listOidcProviders,
      },
      startOidc: {
        extension,
        transaction: false,
        summary: 'Send the browser to the provider (302)',
        query: z.strictObject({ return_to: returnTo().default('/') }),
        produces: ['text/html'],
        status: 302,
        run: oidc.startOidc,
      },
      finishOidc: {
        extension,
        transaction: false,
        summary: 'The callback to which the provider redirects the browser (302); works once, in the same browser',
        query: z.looseObject({ state: z.string().max(200).optional() }),
        produces: ['text/html'],
        status: 302,
        run: oidc.finishOidc,
      },
      linkOidc: {
        ...comesIn,
        summary: 'Start to link a provider to the account; open `url` in the same browser',
        body: z.strictObject({ return_to: returnTo().optional() }),
        answer: z.object({ url: z.string() }),
        allowed: oidc.findProvider,
        run: oidc.linkOidc,
      },
      unlinkOidc: {
        extension,
        transaction: false,
        summary: 'Unlink a provider from the account',
        status: 204,
        allowed: oidc.findProvider,
        run: oidc.unlinkOidc,
      },
    },
  )
