import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { checkPages } from '#test/harness/axe'
import { navigateTo, noBrowser, useSite } from '#test/harness/site'
import { slow } from '#test/harness/slow'

const FIRST_PAGE_BYTES = 200_000

const hostile = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>{{7*7}}\${7*7}`

const definition = {
  inputs: { type: 'object', properties: { a: { type: 'string', title: hostile, description: hostile } } },
  nodes: [
    {
      id: 'ask',
      type: 'clarification',
      name: hostile,
      args: {
        question: hostile,
        schema: { type: 'object', title: hostile, properties: { a: { type: 'string', title: hostile } } },
      },
    },
    {
      id: 'gate',
      type: 'approval',
      args: {
        title: hostile,
        payload: { [hostile]: hostile },
        policy: { approvers: [{ kind: 'role', id: 'owner' }], allow_self: true },
      },
    },
  ],
  edges: [{ from: { node: 'ask' }, to: 'gate' }],
}

describe.skipIf(noBrowser)('the pages of the console', () => {
  const site = useSite()

  slow('show an empty state before there is any data', async () => {
    await checkPages(await site().visit(), [
      ['/sign-in', 'Create an account'],
      ['/sign-up', 'You get your own workspace'],
    ])
    const ada = await site().signUp('Ada')
    await checkPages(ada, [
      ['/', 'Your first workflow'],
      ['/approvals', 'Nothing to approve'],
      ['/runs', 'run'],
    ])
  })

  slow('show every text of tenants as plain text', async () => {
    const ada = await site().signUp('Ada')
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', {
      name: hostile.slice(0, 190),
      description: hostile,
      definition,
    })
    const { execution_id } = await site().call(ada, 'POST', `/api/workflows/${workflow_id}/run`, {
      input: { a: hostile },
    })
    await site().call(ada, 'POST', '/api/notifications', { title: hostile.slice(0, 190), body: hostile, link: '/runs' })
    await ada.page.goto('/')
    for (const path of ['/', '/workflows', `/workflows/${workflow_id}`, `/runs/${execution_id}`]) {
      await navigateTo(ada.page, path)
      await ada.page.getByText('<img src=x').first().waitFor()
      expect(await ada.page.locator('img').count(), path).toBe(0)
    }
    await ada.page.getByRole('button', { name: 'Answer' }).click()
    await ada.page.getByRole('button', { name: 'Approve', exact: true }).waitFor()
    expect(await ada.page.evaluate('window.hacked')).toBeUndefined()
    expect(await ada.page.locator('img').count()).toBe(0)
  })

  it('have a policy that allows only their own files, and are cached only if their name contains a hash', async () => {
    const { service } = site()
    const page = await service.call('GET', '/approvals/apr_1', { headers: { accept: 'text/html,*/*' } })
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = page.headers.get('content-security-policy')!
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
    expect(policy).toContain("script-src 'self'")
    expect(page.headers.get('cache-control')).toBe('no-cache')
    expect(page.text).not.toMatch(/<script(?![^>]*src=)|<style|\sstyle=|\son\w+=|https?:\/\//)
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(page.text)![1]!
    const file = await service.call('GET', script, { headers: { 'accept-encoding': 'gzip, br' } })
    expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(file.headers.get('content-encoding')).toMatch(/^(br|gzip)$/)
  })

  it('never replace a response of the API: an unknown path is 404, even for a browser', async () => {
    const { service } = site()
    const unknown = [
      '/api/nothing',
      '/auth/nothing',
      '/ws/nothing',
      '/gateway/nothing',
      '/widget/nothing.js',
      '/assets/gone.js',
      '/favicon.ico',
      '/api',
      '/metrics/x',
    ]
    for (const path of unknown) {
      const answer = await service.call('GET', path, { headers: { accept: 'text/html' } })
      expect([path, answer.status, answer.headers.get('content-type')]).toEqual([
        path,
        404,
        'application/problem+json; charset=utf-8',
      ])
    }
    expect((await service.call('GET', '/workflows', { headers: { accept: 'application/json' } })).status).toBe(404)
    expect((await service.call('POST', '/workflows', { headers: { accept: 'text/html' } })).status).toBe(404)
    expect((await service.call('GET', '/../package.json', { headers: { accept: 'text/html' } })).text).not.toContain(
      '"dependencies"',
    )
    expect((await service.call('GET', '/healthz')).text).toBe('{"status":"ok"}')
    expect((await service.call('GET', '/openapi.json')).body.openapi).toMatch(/^3\.1/)
  })

  slow('load at most 200 kB of gzipped script for the first page', async () => {
    const ada = await site().signUp('Ada', { fresh: true })
    const scripts = new Map<string, number>()
    ada.page.on('response', async (response) => {
      if (/\/assets\/.*\.js$/.test(response.url()))
        scripts.set(response.url(), gzipSync(await response.body(), { level: 9 }).length)
    })
    await ada.page.goto('/')
    await ada.page.getByText('Your first workflow').waitFor()
    await ada.page.waitForLoadState('networkidle')
    const total = [...scripts.values()].reduce((sum, bytes) => sum + bytes, 0)
    console.log(`first page: ${scripts.size} scripts, ${total} bytes gzipped`)
    expect(total).toBeLessThanOrEqual(FIRST_PAGE_BYTES)
  })

  slow('send requests only to this service', async () => {
    const ada = await site().signUp('Ada', { fresh: true })
    const hosts = new Set<string>()
    ada.page.on('request', (request) => hosts.add(new URL(request.url()).host))
    await ada.page.goto('/')
    for (const path of ['/workflows', '/runs', '/approvals', '/account']) {
      await navigateTo(ada.page, path)
      await ada.page.getByRole('heading', { level: 1 }).waitFor()
    }
    await ada.page.waitForLoadState('networkidle')
    expect([...hosts]).toEqual([new URL(site().service.base).host])
  })
})

describe('the sources of the console', () => {
  it('never turn text into markup', () => {
    const root = join(import.meta.dirname, '..', '..', 'web')
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))
    const offending = files.filter((file) =>
      /dangerouslySetInnerHTML|\.innerHTML\b|\.outerHTML\b|insertAdjacentHTML|document\.write|new Function\(|\beval\(/.test(
        readFileSync(join(root, file), 'utf8'),
      ),
    )
    expect(files.length).toBeGreaterThan(50)
    expect(offending).toEqual([])
  })
})
