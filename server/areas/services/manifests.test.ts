import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeOutgoingCredential } from '#areas/credentials/apply'
import { findPreset } from '#areas/credentials/presets'
import { NodeFailure } from '#engine/node'
import { callService } from '#engine/services/call'
import type { Json, JsonObject } from '#model/definition'
import { checkSchema } from '#model/json-schema-check'
import type { OutgoingCredential } from '#platform/outgoing/credential'
import { makeConversion } from '#providers/conversion/process'
import { readManifests, serviceCatalogue } from '#providers/services/catalogue'
import { Manifest } from '#providers/services/manifest'
import { templateFunctions } from '#providers/services/template'
import { makeNodeCall } from '#test/harness/node-call'
import { type ActionCase, readCases, type ServiceCases, seenIn, toldOf, wantedIn } from '#test/services/exchange'
import { FILE, makeTestFiles, startVendor } from '#test/services/vendor'

// Calls every action of every service on a local server. Checks that method, address, headers and body match the
// vendor's reference, and checks the response, an error and a rate limit.

const catalogue = serviceCatalogue()
const cases = readCases()
let vendor: Awaited<ReturnType<typeof startVendor>>
const conversion = makeConversion()

beforeAll(async () => {
  vendor = await startVendor()
})
afterAll(async () => {
  await vendor.close()
  await conversion.close()
})

test('README.md states the number of services and actions', () => {
  const readme = readFileSync(join(import.meta.dirname, '..', '..', '..', 'README.md'), 'utf8')
  const [, services, actions] = /more than (\d+) services with (\d+) actions/.exec(readme)!
  const all = [...catalogue.values()]
  expect(all.length).toBeGreaterThan(Number(services))
  expect(all.reduce((sum, service) => sum + service.actions.size, 0)).toBeGreaterThan(Number(actions))
})

function credentialOf({ credential }: ServiceCases): OutgoingCredential | undefined {
  if (credential === undefined) return undefined
  const preset = findPreset(credential.service)
  if (!preset) throw new Error(`there is no known service ${credential.service}`)
  const { secrets = {}, token, config } = credential
  return makeOutgoingCredential({
    name: 'Test',
    kind: preset.kind,
    hosts: credential.hosts ?? preset.hosts,
    config: {
      ...preset.config,
      ...(preset.kind === 'service' && { service: preset.service }),
      ...config,
    } as JsonObject,
    secrets,
    ...(token !== undefined && { tokens: { access_token: token } }),
  })
}

/** Replaces `"$file"` in a case by the file of the tests. */
const withFiles = (value: Json): Json => {
  if (value === '$file') return FILE as unknown as Json
  if (Array.isArray(value)) return value.map(withFiles)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withFiles(inner)]))
}

const files = makeTestFiles()
const call = (name: string, action: string, given: ServiceCases, args: Json) => {
  const service = catalogue.get(name)!
  return callService(
    { outgoing: vendor.outgoing, files, conversion },
    {
      service,
      action: service.actions.get(action)!,
      args: withFiles(args) as JsonObject,
      credential: credentialOf(given),
    },
    makeNodeCall({ effectKey: 'the-key-of-the-attempt' }),
  )
}

describe('the manifests', () => {
  test('match the schema', () => {
    for (const manifest of readManifests())
      expect(Manifest.safeParse(manifest).error?.message, manifest.service).toBe(undefined)
  })

  test('each have a file of cases that covers every action', () => {
    for (const { service, actions } of catalogue.values())
      expect([service, Object.keys(cases.get(service)?.actions ?? {}).sort()]).toEqual([
        service,
        [...actions.keys()].sort(),
      ])
  })

  test('name known credentials, existing options and existing arguments', () => {
    for (const service of catalogue.values()) {
      for (const name of service.credentials) expect(findPreset(name), `${service.service}: ${name}`).toBeDefined()
      for (const [name, { action }] of Object.entries(service.options ?? {}))
        expect(service.actions.get(action), `${service.service}: ${name}`).toBeDefined()
      for (const action of service.actions.values()) {
        const place = `${service.service}.${action.name}`
        const known = new Set([...Object.keys(action.args_schema.properties as JsonObject), 'item', 'index'])
        const { output: _output, paginate: _paginate, args_schema, ...request } = action
        expect(checkSchema(args_schema), place).toEqual([])
        for (const [, used] of JSON.stringify(request).matchAll(/"\$(\w+)[^"]*"(?!:)/g))
          expect(known, place).toContain(used)
        for (const [, used] of JSON.stringify(request).matchAll(/"\$(\w+)":/g))
          if (!/^(filter|select|top|search|orderby|expand|count)$/.test(used!))
            expect(templateFunctions, place).toContain(`$${used}`)
        for (const [field, schema] of Object.entries(args_schema.properties as Record<string, JsonObject>)) {
          const options = schema['x-options']
          if (options !== undefined) expect(Object.keys(service.options ?? {}), `${place}: ${field}`).toContain(options)
          expect(
            JSON.stringify({ ...request, base: service.base_url, common: service.headers }),
            `${place}: ${field} is not used`,
          ).toMatch(new RegExp(field === 'max_items' ? '' : `[${'$'}{+']${field}\\b|"${field}"`))
        }
      }
    }
  })
})

const expected = (
  { sends, args: _args, answer: _answer, answers: _answers, gives: _gives, jsons, ...sent }: ActionCase,
  given: ServiceCases,
) => [sends].flat().map((request, index) => wantedIn(request, given, jsons ? { ...sent, json: jsons[index]! } : sent))

for (const [name, given] of cases)
  describe(name, () => {
    test.each(Object.entries(given.actions))('%s', async (action, one) => {
      vendor.received.length = 0
      files.saved.length = 0
      const answers = one.answers ?? [one.answer ?? {}]
      vendor.answer(...answers.map(toldOf))
      const output = await call(name, action, given, one.args ?? {})
      const wanted = expected(one, given)
      expect(await Promise.all(vendor.received.map((received) => seenIn(received, one)))).toEqual(wanted)
      expect(output).toEqual(one.gives ?? toldOf(answers[0]).body)
    })

    test('an error is reported with its code, its text and the status', async () => {
      const [first] = Object.keys(given.actions)
      const action = given.error.action ?? first!
      const [status, body, headers = {}] = given.error.answer
      vendor.answer({ status, body, headers })
      const failure = await call(name, action, given, given.actions[action]!.args ?? {}).catch(
        (error: unknown) => error,
      )
      expect(failure).toBeInstanceOf(NodeFailure)
      const { code, message, details, retryable } = failure as NodeFailure
      expect({ code, message, details, retryable }).toMatchObject(given.error.failure)
    })

    test('a rate limit is retryable after the given time', async () => {
      const [first] = Object.keys(given.actions)
      const action = given.error.action ?? first!
      const [status, body, headers = {}] = given.rate.answer
      vendor.answer({ status, body, headers })
      const failure = (await call(name, action, given, given.actions[action]!.args ?? {}).catch(
        (error: unknown) => error,
      )) as NodeFailure
      expect([failure.code, failure.retryable, failure.nothingDone]).toEqual(['rate_limited', true, true])
      if (given.rate.after === undefined) expect(failure.retryAfterS).toBeUndefined()
      else expect(failure.retryAfterS).toBeCloseTo(given.rate.after, -1)
    })
  })

test('Pipedrive: absent fields are left out, and all deals that are not deleted are listed without a status', async () => {
  const given = cases.get('pipedrive')!
  const send = async (action: string, args: Json) => {
    vendor.received.length = 0
    vendor.answer({ status: 200, headers: {}, body: { success: true, data: [] } })
    await call('pipedrive', action, given, args)
    return seenIn(vendor.received[0]!, given.actions[action]!)
  }
  const lists = 'GET https://api.pipedrive.com/api/v2/deals?limit=100'
  expect(await send('list_deals', { status: 'all_not_deleted' })).toEqual(wantedIn(lists, given, {}))
  for (const [action, args] of [
    ['create_person', { name: 'Ann' }],
    ['create_organization', { name: 'Acme' }],
    ['create_activity', { subject: 'Call' }],
  ] as const) {
    const { sends } = given.actions[action]!
    expect(await send(action, args)).toEqual(wantedIn(sends as string, given, { json: args }))
  }
})

test('a token that the vendor calls expired with status 200 is renewed, and the call is repeated once', async () => {
  const slack = catalogue.get('slack')!
  const expired = { status: 200, headers: {}, body: { ok: false, error: 'token_expired' } }
  const opened = (access_token: string) => ({
    name: 'Slack',
    kind: 'oauth2_code' as const,
    hosts: ['slack.com'],
    config: {},
    secrets: {},
    tokens: { access_token },
  })
  const credential = makeOutgoingCredential(opened('old-token'), async () =>
    makeOutgoingCredential(opened('new-token')),
  )
  const list = () =>
    callService(
      { outgoing: vendor.outgoing, files, conversion },
      { service: slack, action: slack.actions.get('list_channels')!, args: {}, credential },
      makeNodeCall({}),
    )
  vendor.received.length = 0
  vendor.answer(expired, { status: 200, headers: {}, body: { ok: true, channels: [{ id: 'C1' }] } })
  expect(await list()).toMatchObject({ items: [{ id: 'C1' }] })
  expect(vendor.received.map(({ headers }) => headers.authorization)).toEqual(['Bearer old-token', 'Bearer new-token'])
  vendor.answer(expired, expired)
  await expect(list()).rejects.toMatchObject({ code: 'credential_rejected', retryable: false })
  expect(vendor.received).toHaveLength(4)
})
