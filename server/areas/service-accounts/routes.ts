import { ApiKey, apiKeyList, CreatedApiKey, NewServiceAccountKey } from '#areas/identity/schema'
import type { Members } from '#areas/workspaces/members'
import { viewer, workspaceOwner } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import { NewServiceAccount, ServiceAccount, ServiceAccountPatch, serviceAccountList } from './schema.ts'
import {
  createServiceAccount,
  createServiceAccountKey,
  deleteServiceAccount,
  deleteServiceAccountKey,
  getServiceAccount,
  getServiceAccountKey,
  listServiceAccountKeys,
  listServiceAccounts,
  updateServiceAccount,
} from './service.ts'

const extension = true

export const serviceAccountRoutes = (members: Members): AnyRoute[] =>
  routes(
    'Service accounts',
    {
      listServiceAccounts: ['GET', '/api/service-accounts', viewer('workspace')],
      createServiceAccount: ['POST', '/api/service-accounts', workspaceOwner],
      getServiceAccount: ['GET', '/api/service-accounts/:user_id', viewer('workspace')],
      updateServiceAccount: ['PATCH', '/api/service-accounts/:user_id', workspaceOwner],
      deleteServiceAccount: ['DELETE', '/api/service-accounts/:user_id', workspaceOwner],
      listServiceAccountKeys: ['GET', '/api/service-accounts/:user_id/keys', workspaceOwner],
      createServiceAccountKey: ['POST', '/api/service-accounts/:user_id/keys', workspaceOwner],
      getServiceAccountKey: ['GET', '/api/service-accounts/:user_id/keys/:key_id', workspaceOwner],
      deleteServiceAccountKey: ['DELETE', '/api/service-accounts/:user_id/keys/:key_id', workspaceOwner],
    },
    {
      listServiceAccounts: {
        summary: 'The service accounts of the selected workspace, newest first',
        extension,
        query: serviceAccountList.query,
        answer: page(ServiceAccount),
        run: listServiceAccounts,
      },
      createServiceAccount: {
        summary: 'Create an account for a program',
        description:
          'It belongs to the workspace and not to a person: it stays when the person who created it leaves. No person can sign in with it. See docs/api-keys.md.',
        extension,
        body: NewServiceAccount,
        answer: ServiceAccount,
        status: 201,
        location: ({ user_id }) => `/api/service-accounts/${user_id}`,
        examples: { body: { name: 'Deployments', description: 'Pushes workflows from git', role: 'member' } },
        run: createServiceAccount,
      },
      getServiceAccount: { summary: 'One service account', extension, answer: ServiceAccount, run: getServiceAccount },
      updateServiceAccount: {
        summary: 'Rename a service account, change its role, disable or enable it',
        description:
          'The keys of a disabled one are refused at once (401), and its sockets close. Workflows that it activated keep running with its rights.',
        extension,
        body: ServiceAccountPatch,
        answer: ServiceAccount,
        current: getServiceAccount,
        examples: { body: { disabled: true } },
        run: updateServiceAccount,
      },
      deleteServiceAccount: {
        summary: 'Delete a service account and its keys; what it owned goes to an owner of the workspace',
        extension,
        status: 204,
        current: getServiceAccount,
        run: (ctx, input) => deleteServiceAccount(members, ctx, input),
      },
      listServiceAccountKeys: {
        summary: 'The API keys of a service account, newest first',
        extension,
        query: apiKeyList.query,
        answer: page(ApiKey),
        run: listServiceAccountKeys,
      },
      createServiceAccountKey: {
        summary: 'Create an API key of a service account; the key is shown once',
        description: 'A key cannot create a key with more scopes or a later expiry than its own.',
        extension,
        body: NewServiceAccountKey,
        answer: CreatedApiKey,
        status: 201,
        location: ({ key_id }, path) => `${path}/${key_id}`,
        examples: { body: { name: 'CI', scopes: ['workflows:write', 'executions:run'] } },
        allowed: getServiceAccount,
        run: createServiceAccountKey,
      },
      getServiceAccountKey: {
        summary: 'One API key of a service account',
        extension,
        answer: ApiKey,
        run: getServiceAccountKey,
      },
      deleteServiceAccountKey: {
        summary: 'Delete an API key of a service account; it stops working at once',
        extension,
        status: 204,
        current: getServiceAccountKey,
        run: deleteServiceAccountKey,
      },
    },
  )
