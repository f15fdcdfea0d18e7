import { createInterface } from 'node:readline/promises'
import { text } from 'node:stream/consumers'
import { makeClient } from '../client.ts'
import { type Command, textOf, UsageError } from './command.ts'
import { remember } from './credentials.ts'

/**
 * Reads the key from a prompt, the environment or standard input, because a key in the command itself would be in the
 * shell history.
 */
async function askForKey(): Promise<string | undefined> {
  if (!process.stdin.isTTY) return process.env.HEDDLE_KEY ?? ((await text(process.stdin)).trim() || undefined)
  const asking = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return (await asking.question('API key (create one in the console under "API keys"): ')).trim() || undefined
  } finally {
    asking.close()
  }
}

export const login: Command = {
  words: [],
  about:
    'Store the address of the service and your API key. Without --key, the command asks for the key or reads it from a pipe.',
  options: {
    base: { type: 'string', value: 'URL', about: 'the address of the service; default: http://127.0.0.1:4100' },
    key: {
      type: 'string',
      value: 'hk_…',
      about: 'the API key; better omit it, because it would appear in the shell history',
    },
  },
  async run(_words, values, out) {
    const base = textOf(values, 'base') ?? process.env.HEDDLE_BASE ?? 'http://127.0.0.1:4100'
    const workspace = textOf(values, 'workspace')
    const key = textOf(values, 'key') ?? (await askForKey())
    if (key === undefined) throw new UsageError('--key is missing. See: heddle login --help')
    const { user } = await makeClient({ baseUrl: base, token: key }).getMe()
    const file = remember({ base, key, ...(workspace !== undefined && { workspace }) })
    out.show({ base, user, workspace: workspace ?? null, file }, `Signed in as ${user.email}; stored in ${file}`)
  },
}
