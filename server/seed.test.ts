import { beforeAll, describe, expect, test } from 'vitest'
import { seed } from '#server/seed'
import { useService } from '#test/harness/service'

const service = useService()

const start = (env: { HEDDLE_DEMO?: 'on' | 'off' } = {}) =>
  seed({
    config: { ...service().config, ...env },
    ownerUrl: service().database.urls.owner,
    http: service().app.http,
    log: service().app.http.log as never,
  })
const said = (lines: string[], what: string): string => lines.find((line) => line.startsWith(what))!.slice(what.length)

/** Removes the org that the harness creates. */
const empty = async (): Promise<void> => {
  await service().sql('truncate orgs cascade')
}

describe('the first start', () => {
  beforeAll(empty)

  test('without the demo creates an org and returns no lines', async () => {
    expect(await start({ HEDDLE_DEMO: 'off' })).toEqual([])
    expect(await service().sql('select name from orgs')).toEqual([{ name: 'Heddle' }])
    expect(await start()).toEqual([])
    await empty()
  })

  test('of servers that start at the same time creates one demo, and only one server returns its secrets', async () => {
    const all = await Promise.all([start(), start(), start()])
    const spoken = all.filter((lines) => lines.length > 0)
    expect(spoken).toHaveLength(1)
    const [lines] = spoken
    const password = said(lines!, 'heddle demo password: ')
    const key = said(lines!, 'heddle demo API key: ')
    expect(said(lines!, 'heddle demo person: ')).toBe('demo@heddle.local')
    // The running service has cached its orgs. It sees a new org after two seconds.
    const signIn = () => service().call('POST', '/auth/sign-in', { body: { email: 'demo@heddle.local', password } })
    await expect.poll(async () => (await signIn()).status, { interval: 250 }).toBe(200)
    const me = await service().call('GET', '/auth/me', { token: key })
    expect(me.body).toMatchObject({
      user: { email: 'demo@heddle.local' },
      workspaces: [{ name: 'Demo', role: 'owner' }],
    })
    expect(await start()).toEqual([])
    const standing = await service().sql(
      `select has_verified_owner, is_trusted from workspaces, mail_standing(workspace_id, '{stranger@example.com}')`,
    )
    expect(standing, 'mail to people outside').toEqual([{ has_verified_owner: true, is_trusted: false }])
    const rows = await service().sql(
      'select users::text as row from users union all select api_keys::text from api_keys',
    )
    for (const secret of [password, key]) expect(JSON.stringify(rows)).not.toContain(secret)
  })
})
