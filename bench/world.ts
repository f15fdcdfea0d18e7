import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import pg from 'pg'
import { hashSecret, newId, newSecret, toWire } from '#platform/ids'
import type { BenchDatabase } from './database.ts'

export type BenchService = {
  base: string
  child: ChildProcess
  memory(): Promise<{ rss: number; heap: number }>
  stop(): void
}

/** `BENCH_SERVICE_ARGS='--cpu-prof --cpu-prof-dir=…'` shows where the service spends its time. */
export function startBenchService(database: BenchDatabase, role = 'all'): Promise<BenchService> {
  const child = fork(join(import.meta.dirname, 'service.ts'), [JSON.stringify(database.urls), role], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    execArgv: process.env.BENCH_SERVICE_ARGS?.split(' ') ?? [],
  })
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the service ended with ${code}`)))
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      const base = /listening (\S+)/.exec(text)?.[1]
      if (!base) return
      resolve({
        base,
        child,
        memory: () =>
          new Promise((report) => {
            child.once('message', (figures) => report(figures as { rss: number; heap: number }))
            child.send('memory')
          }),
        stop: () => child.disconnect(),
      })
    })
  })
}

/** Creates a user with a key and a workspace. */
export async function makeBenchPerson(
  database: BenchDatabase,
): Promise<{ key: string; workspaceId: string; userId: string }> {
  const client = new pg.Client({ connectionString: database.urls.owner })
  await client.connect()
  const [user, company, workspace, key] = [newId(), newId(), newId(), newSecret('hk')]
  await client.query(`insert into orgs (org_id, name) select $1, 'Bench' where not exists (select from orgs)`, [
    newId(),
  ])
  await client.query('insert into users (user_id, org_id, email, name) select $1, org_id, $2, $3 from orgs', [
    user,
    `${user}@example.com`,
    'Bench',
  ])
  // No benchmark measures the quota, and some send more requests to their local servers than it allows.
  await client.query(
    `insert into plans (plan_id, org_id, name, amount, currency, "interval", quotas)
     select $1, org_id, 'Free', 0, 'eur', 'month', $2 from orgs where not exists (select from plans)`,
    [newId(), { outgoing_requests_per_minute: null }],
  )
  await client.query(
    `insert into api_keys (key_id, user_id, name, prefix, token_hash) values ($1, $2, 'bench', 'hk_', $3)`,
    [newId(), user, hashSecret(key)],
  )
  await client.query(
    'insert into companies (company_id, org_id, owner_id, name) select $1, org_id, $2, $3 from users where user_id = $2',
    [company, user, 'Bench'],
  )
  await client.query(
    'insert into workspaces (workspace_id, company_id, org_id, name) select $1, company_id, org_id, $3 from companies where company_id = $2',
    [workspace, company, 'Bench'],
  )
  await client.query(`insert into memberships (workspace_id, user_id, role) values ($1, $2, 'owner')`, [
    workspace,
    user,
  ])
  await client.end()
  return { key, workspaceId: workspace, userId: user }
}

export async function post(base: string, path: string, token: string, body: unknown): Promise<Record<string, string>> {
  const response = await fetch(base + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(await response.text())
  return (await response.json()) as Record<string, string>
}

/** Creates a workflow of `length` nodes, each run by a worker and made durable, with a webhook token. */
export async function makeHook(
  base: string,
  key: string,
  definition: unknown,
): Promise<{ url: string; token: string; workflowId: string }> {
  const { workflow_id } = await post(base, '/api/workflows', key, { name: 'Bench', definition })
  const { token } = await post(base, `/api/workflows/${workflow_id}/tokens`, key, {})
  return { url: `${base}/api/webhooks/workflow/${workflow_id}/trigger`, token: token!, workflowId: workflow_id! }
}

export const wireExecution = (id: string): string => toWire('exe', id)
