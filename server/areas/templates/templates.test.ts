import { beforeAll, describe, expect, test } from 'vitest'
import { newId, toWire } from '#platform/ids'
import { useSharedService } from '#test/harness/service'
import { makeWorld, type World } from '#test/harness/world'

const service = useSharedService()
let world: World
let workflow: string
const definition = { nodes: [], edges: [] }

beforeAll(async () => {
  world = await makeWorld(service())
  workflow = (await world.member.call('POST', '/api/workflows', { body: { name: 'Mine', definition } })).body
    .workflow_id
})

const create = (body: object, person = world.member) => person.call('POST', '/api/templates', { body })

describe('a chat template', () => {
  test('is created, read, listed, changed with If-Match, and deleted', async () => {
    const made = await create({
      name: ' Shop ',
      workflow_ids: [workflow],
      allowed_origins: ['HTTPS://Shop.Example:443'],
    })
    expect(made.status).toBe(201)
    const { template_id } = made.body
    expect(made.headers.get('location')).toBe(`/api/templates/${template_id}`)
    expect(made.body).toMatchObject({
      name: 'Shop',
      owner_id: world.member.id,
      greeting: null,
      workflow_ids: [workflow],
      theme: {},
      features: { speech: true, transcribe: true },
      allowed_origins: ['https://shop.example'],
    })
    const path = `/api/templates/${template_id}`
    const read = await world.viewer.call('GET', path)
    expect(read.body).toEqual(made.body)
    expect((await world.viewer.call('GET', '/api/templates')).body.items[0]).toEqual(made.body)
    const patched = await world.member.call('PATCH', path, {
      body: { ...read.body, greeting: 'Hello', features: { speech: false } },
      headers: { 'if-match': read.headers.get('etag')! },
    })
    expect(patched.body).toMatchObject({ greeting: 'Hello', features: { speech: false, transcribe: true } })
    const stale = await world.member.call('PATCH', path, {
      body: { name: 'X' },
      headers: { 'if-match': read.headers.get('etag')! },
    })
    expect(stale.status).toBe(412)
    const cleared = await world.member.call('PATCH', path, {
      body: { greeting: null, workflow_ids: null, theme: null },
    })
    expect(cleared.body).toMatchObject({ greeting: null, workflow_ids: [], theme: {} })
    expect((await world.member.call('PATCH', path, { body: { owner_id: world.owner.id } })).body.code).toBe('read_only')
    expect((await world.member.call('DELETE', path)).status).toBe(204)
    expect((await world.member.call('GET', path)).status).toBe(404)
  })

  test('can be changed only by its creator and the owners of the workspace', async () => {
    const { template_id } = (await create({ name: 'Owner’s' }, world.owner)).body
    const path = `/api/templates/${template_id}`
    expect((await world.member.call('PATCH', path, { body: { name: 'X' } })).status).toBe(403)
    expect((await world.member.call('POST', `${path}/embed-tokens`, { body: {} })).status).toBe(403)
    expect((await world.viewer.call('GET', `${path}/embed-tokens`)).status).toBe(403)
    const mine = (await create({ name: 'Member’s' })).body.template_id
    expect((await world.owner.call('PATCH', `/api/templates/${mine}`, { body: { name: 'X' } })).status).toBe(200)
    expect((await create({ name: 'X' }, world.viewer)).status).toBe(403)
    expect((await world.stranger.call('GET', path)).status).toBe(404)
  })

  test('can contain only workflows that its author may start', async () => {
    const foreign = (await world.stranger.call('POST', '/api/workflows', { body: { name: 'Foreign', definition } }))
      .body.workflow_id
    const answers = []
    for (const id of [foreign, toWire('wf', newId()), 'nonsense', 'echo'])
      answers.push(
        await world.member.call('POST', '/api/templates', {
          body: { name: 'X', workflow_ids: [workflow, id] },
          headers: { 'x-request-id': 'same' },
        }),
      )
    for (const answer of answers) expect([answer.status, answer.text]).toEqual([422, answers[0]!.text])
    expect(answers[0]!.body.errors[0].path).toBe('/workflow_ids/1')
    const owners = (await world.owner.call('POST', '/api/workflows', { body: { name: 'Owner’s', definition } })).body
      .workflow_id
    expect((await create({ name: 'X', workflow_ids: [owners] })).status).toBe(403)
    expect((await create({ name: 'X', workflow_ids: [workflow, workflow] })).body.errors[0].path).toBe(
      '/workflow_ids/1',
    )
    // A workflow that another person added may remain when the template is changed.
    const shared = (await create({ name: 'Mine', workflow_ids: [workflow] })).body
    const kept = await world.owner.call('PATCH', `/api/templates/${shared.template_id}`, {
      body: { name: 'Y', workflow_ids: [workflow] },
    })
    expect(kept.status).toBe(200)
    await world.member.call('DELETE', `/api/workflows/${workflow}`)
    expect((await world.member.call('GET', `/api/templates/${shared.template_id}`)).body.workflow_ids).toEqual([])
  })

  test('refuses scripts, style rules and unsafe addresses in its theme, and paths or wildcards in its origins', async () => {
    const bad = [
      '<b>',
      'red;}body{display:none',
      'url(https://evil.example/x)',
      'javascript:alert(1)',
      'java\tscript:alert(1)',
      '\u0001javascript:alert(1)',
      'data:image/svg+xml,<svg onload=alert(1)>',
      'expression(alert(1))',
      '</style><script>',
      'x'.repeat(501),
    ]
    for (const value of bad) {
      const answer = await create({ name: 'X', theme: { colours: { accent: value } } })
      expect([value, answer.status, answer.body.errors?.[0].path]).toEqual([value, 422, '/theme/colours/accent'])
    }
    const fine = {
      accent: '#0a7',
      font: 'Inter, sans-serif',
      logo: 'https://shop.example/logo.png',
      radius: 8,
      dark: false,
    }
    expect((await create({ name: 'X', theme: fine })).body.theme).toEqual(fine)
    for (const origin of [
      '*',
      'https://*.example',
      'https://shop.example/path',
      'shop.example',
      'ftp://x',
      'null',
      'https://a@b',
    ])
      expect([origin, (await create({ name: 'X', allowed_origins: [origin] })).status]).toEqual([origin, 422])
  })

  test('gives its origins to new tokens that have none of their own', async () => {
    const { template_id } = (await create({ name: 'X', allowed_origins: ['https://a.example'] })).body
    const path = `/api/templates/${template_id}/embed-tokens`
    const made = await world.member.call('POST', path, { body: {} })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      allowed_origins: ['https://a.example'],
      template_id,
      workflow_id: null,
      enabled: true,
    })
    expect(made.body.token).toMatch(/^ems_/)
    expect((await world.member.call('POST', path, { body: { allowed_origins: [] } })).body.allowed_origins).toEqual([])
    const listed = await world.member.call('GET', path)
    expect(listed.body.items).toHaveLength(2)
    expect(listed.text).not.toContain(made.body.token)
    expect((await world.member.call('DELETE', `${path}/${made.body.token_id}`)).status).toBe(204)
  })
})
