import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Client, makeClient } from '../client.ts'
import { NotSignedIn } from './command.ts'

const file = (): string => join(process.env.XDG_CONFIG_HOME ?? join(homedir(), '.config'), 'heddle', 'credentials.json')

export function remember(credentials: { base: string; key: string; workspace?: string }): string {
  mkdirSync(dirname(file()), { recursive: true, mode: 0o700 })
  writeFileSync(file(), `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 })
  return file()
}

export function clientFromEnvironment({ workspace }: { workspace?: string | undefined }): Client {
  let stored: { base?: string; key?: string; workspace?: string } = {}
  try {
    stored = JSON.parse(readFileSync(file(), 'utf8'))
  } catch {
    // There are no stored credentials; the environment may contain them.
  }
  const base = process.env.HEDDLE_BASE ?? stored.base ?? 'http://127.0.0.1:4100'
  const key = process.env.HEDDLE_KEY ?? stored.key
  if (!key) throw new NotSignedIn('Sign in first: heddle login --base URL --key hk_…')
  const workspaceId = workspace ?? process.env.HEDDLE_WORKSPACE ?? stored.workspace
  return makeClient({ baseUrl: base, token: key, ...(workspaceId && { workspaceId }) })
}
