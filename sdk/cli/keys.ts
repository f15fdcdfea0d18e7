import { all } from '../lists.ts'
import type { ApiKey } from '../types.generated.ts'
import { type Command, textOf } from './command.ts'
import { clientFromEnvironment } from './credentials.ts'

const lineOf = ({ key_id, prefix, name, scopes, expires_at }: ApiKey): string =>
  [key_id, prefix, name, scopes === null ? 'everything' : scopes.join(','), expires_at ?? 'no expiry'].join('\t')

export const keys: Command = {
  words: [],
  about: 'List your API keys with their scopes. The keys themselves are never shown again.',
  options: {},
  async run(_words, values, out) {
    const found: ApiKey[] = []
    const client = clientFromEnvironment({ workspace: textOf(values, 'workspace') })
    for await (const key of all(client.listApiKeys)) found.push(key)
    out.show({ keys: found }, found.map(lineOf).join('\n'))
  },
}
