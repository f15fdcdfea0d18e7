import { signedIn } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import type { ApiKeys } from './api-keys.ts'
import { extension } from './route-parts.ts'
import { ApiKey, apiKeyList, CreatedApiKey, DeleteApiKeys, KeysDeleted, NewApiKey } from './schema.ts'

export const keyRoutes = (apiKeys: ApiKeys): AnyRoute[] =>
  routes(
    'Identity',
    {
      listApiKeys: ['GET', '/auth/api-keys', signedIn],
      createApiKey: ['POST', '/auth/api-keys', signedIn, 'admin'],
      deleteApiKeys: ['POST', '/auth/api-keys/delete', signedIn, 'admin'],
      getApiKey: ['GET', '/auth/api-keys/:key_id', signedIn],
      deleteApiKey: ['DELETE', '/auth/api-keys/:key_id', signedIn, 'admin'],
    },
    {
      listApiKeys: {
        extension,
        summary: "The caller's API keys",
        query: apiKeyList.query,
        answer: page(ApiKey),
        run: apiKeys.listApiKeys,
      },
      createApiKey: {
        extension,
        summary: 'Create an API key, for all of the caller’s workspaces or for one; `key` is shown only once',
        description: 'A key that is created with another key has at most the scopes and the expiry of that key.',
        body: NewApiKey,
        answer: CreatedApiKey,
        status: 201,
        idempotency: 'anywhere',
        location: ({ key_id }, path) => `${path}/${key_id}`,
        examples: { body: { name: 'deploy script' } },
        run: apiKeys.createApiKey,
      },
      deleteApiKeys: {
        extension,
        summary: "Delete several of the caller's API keys, or all others; they stop working at once",
        body: DeleteApiKeys,
        answer: KeysDeleted,
        examples: { body: { all_others: true } },
        run: apiKeys.deleteApiKeys,
      },
      getApiKey: { extension, summary: "One of the caller's API keys", answer: ApiKey, run: apiKeys.getApiKey },
      deleteApiKey: {
        extension,
        summary: 'Delete an API key',
        status: 204,
        current: apiKeys.getApiKey,
        run: apiKeys.deleteApiKey,
      },
    },
  )
