import type { z } from 'zod'
import { anyone, member, owner, signedIn, viewer, workspaceOwner } from '#platform/access/rules'
import type { Context } from '#platform/http/context'
import { type AnyRoute, type Exchange, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import { authorizeCredential, finishAuthorization } from './authorize.ts'
import type { ModelParts } from './models.ts'
import type {
  NewCredential as NewCredentialInput,
  CredentialPatch as Patch,
  CredentialSecret as Secret,
} from './schema.ts'
import {
  Authorization,
  Credential,
  CredentialKinds,
  CredentialPatch,
  CredentialSecret,
  CredentialTest,
  CredentialUsage,
  credentialQuery,
  NewCredential,
  NewWorkspaceModel,
  ReturnedQuery,
  TestRequest,
  WorkspaceModel,
} from './schema.ts'
import {
  type ById,
  createCredential,
  getCredential,
  listCredentialKinds,
  listCredentials,
  revokeCredential,
  rotateSecret,
  updateCredential,
} from './service.ts'
import { testCredential } from './test-call.ts'
import { getCredentialUsage } from './usage.ts'
import { chooseWorkspaceModel, getWorkspaceModel } from './workspace-model.ts'

export const credentialRoutes = (parts: ModelParts): AnyRoute[] =>
  routes(
    'Credentials',
    {
      listCredentials: ['GET', '/api/credentials', viewer('workspace')],
      createCredential: ['POST', '/api/credentials', member('workspace')],
      getCredential: ['GET', '/api/credentials/:credential_id', viewer('owned_credential')],
      updateCredential: ['PATCH', '/api/credentials/:credential_id', member('credential')],
      revokeCredential: ['DELETE', '/api/credentials/:credential_id', owner('owned_credential')],
      rotateSecret: ['PUT', '/api/credentials/:credential_id/secret', member('credential')],
      testCredential: ['POST', '/api/credentials/:credential_id/test', viewer('credential'), 'run'],
      getCredentialUsage: ['GET', '/api/credentials/:credential_id/usage', viewer('owned_credential')],
      authorizeCredential: ['POST', '/api/credentials/:credential_id/authorize', member('credential')],
      finishAuthorization: ['GET', '/oauth/callback', anyone],
      getWorkspaceModel: ['GET', '/api/workspaces/:workspace_id/language-model', viewer('workspace')],
      chooseWorkspaceModel: ['PUT', '/api/workspaces/:workspace_id/language-model', workspaceOwner],
      listCredentialKinds: ['GET', '/api/credential-kinds', signedIn],
    },
    {
      listCredentials: {
        summary: 'The credentials that you own, that are shared with you, and for owners of the workspace all of them',
        extension: true,
        query: credentialQuery,
        answer: page(Credential),
        run: listCredentials,
      },
      createCredential: {
        summary: 'Store a credential',
        description:
          'The secret is encrypted together with its hosts and is never returned again. With `service` the kind, the hosts and the settings of a known service are filled in.',
        extension: true,
        body: NewCredential,
        answer: Credential,
        status: 201,
        location: ({ credential_id }) => `/api/credentials/${credential_id}`,
        examples: {
          body: { name: 'Shop API', kind: 'bearer', hosts: ['api.example.com'], secrets: { token: '…' } },
        },
        run: (ctx: Context, input: NewCredentialInput) => createCredential(parts, ctx, input),
      },
      getCredential: { summary: 'One credential', extension: true, answer: Credential, run: getCredential },
      updateCredential: {
        summary: 'Change a credential',
        description:
          'If the hosts or an address that receives the secret change, the secret must be sent again. Only the owner can share the credential.',
        extension: true,
        body: CredentialPatch,
        answer: Credential,
        current: getCredential,
        examples: { body: { shared: [{ kind: 'workspace', role: 'use' }] } },
        run: (ctx: Context, input: ById & Patch) => updateCredential(parts, ctx, input),
      },
      revokeCredential: {
        summary:
          'Revoke a credential: its secret is erased and jobs that use it pause; a second call deletes the credential',
        extension: true,
        status: 204,
        current: getCredential,
        run: (ctx: Context, input: ById) => revokeCredential(parts, ctx, input),
      },
      rotateSecret: {
        summary: 'Replace the secret; the id stays the same',
        extension: true,
        body: CredentialSecret,
        answer: Credential,
        current: getCredential,
        examples: { body: { secrets: { token: '…' } } },
        run: (ctx: Context, input: ById & Secret) => rotateSecret(parts, ctx, input),
      },
      testCredential: {
        summary: 'Test the credential with a call that changes nothing',
        description:
          'Calls `url`, or an address of the service that is known to be harmless, or the first host. The response is 200 whether the credential works or not.',
        extension: true,
        body: TestRequest,
        answer: CredentialTest,
        transaction: false,
        examples: { body: {} },
        run: (ctx: Context, input: ById & { url?: string | undefined }) => testCredential(parts, ctx, input),
      },
      getCredentialUsage: {
        summary: 'The workflows, jobs and templates that name the credential',
        extension: true,
        answer: CredentialUsage,
        run: getCredentialUsage,
      },
      authorizeCredential: {
        summary: 'Start the consent for an OAuth2 credential; returns the address to open in the browser',
        description: 'The browser must return to `/oauth/callback` with the same session within ten minutes.',
        extension: true,
        answer: Authorization,
        idempotency: 'none',
        run: (ctx: Context, input: ById) => authorizeCredential(parts, ctx, input),
      },
      finishAuthorization: {
        summary: 'The callback to which a service redirects the browser after the consent for an OAuth2 credential',
        extension: true,
        query: ReturnedQuery,
        produces: ['text/html'],
        status: 302,
        transaction: false,
        run: (ctx: Context, input: z.output<typeof ReturnedQuery>, exchange: Exchange) =>
          finishAuthorization(parts, ctx, input, exchange),
      },
      getWorkspaceModel: {
        summary: 'The default language model of the workspace',
        extension: true,
        answer: WorkspaceModel,
        run: (ctx: Context, input: { workspace_id: string }) => getWorkspaceModel(parts, ctx, input),
      },
      chooseWorkspaceModel: {
        summary: 'Choose the default language model of the workspace, and a fallback',
        description:
          'The chosen credential can be used by everything that runs in the workspace. Null: the model of the installation.',
        extension: true,
        current: (ctx: Context, input: { workspace_id: string }) => getWorkspaceModel(parts, ctx, input),
        body: NewWorkspaceModel,
        answer: WorkspaceModel,
        examples: { body: { credential_id: null } },
        run: (ctx: Context, input: { workspace_id: string } & z.output<typeof NewWorkspaceModel>) =>
          chooseWorkspaceModel(parts, ctx, input),
      },
      listCredentialKinds: {
        summary: 'The kinds of credentials and the known services, as forms for an editor',
        extension: true,
        answer: CredentialKinds,
        run: listCredentialKinds,
      },
    },
  )
