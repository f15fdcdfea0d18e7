import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { NodeFailure, type NodeKind } from '#engine/node'
import { makeAgentRun } from '#engine/nodes/agent-run'
import { checked, control, fields } from '#engine/nodes/kind'
import { makeMcpCall } from '#engine/nodes/mcp-call'
import type { Json, JsonObject } from '#model/definition'
import type { Effect } from '#model/node'
import { makeOutgoing, type Outgoing } from '#platform/outgoing/outgoing'
import { absentModel } from '#providers/llm/configured'
import type { LanguageModel } from '#providers/llm/index'
import { makeSdkModel } from '#providers/llm/sdk'
import { callTools, cutOff, json, refuse, say, status } from '#test/fakes/llm/answers'
import { FAKE_KEY, type FakeLlm, startFakeLlm } from '#test/fakes/llm/server'
import { type FakeMcp, startFakeMcp } from '#test/fakes/mcp/server'
import { Crash, type CrashPoint, makeNodeCall, type StepJournal } from '#test/harness/node-call'

let fake: FakeLlm
let mcp: FakeMcp
let outgoing: Outgoing
let llm: LanguageModel
let done: { type: string; args: JsonObject; key: string }[] = []

beforeAll(async () => {
  fake = await startFakeLlm()
  mcp = await startFakeMcp()
  outgoing = makeOutgoing({ allowTargets: [mcp.target] })
  const settings = {
    provider: 'openai-compatible' as const,
    model: 'fake-model',
    apiKey: FAKE_KEY,
    baseUrl: fake.baseUrl,
  }
  llm = makeSdkModel(settings, { backoffMs: 1 })
})
beforeEach(() => {
  done = []
  mcp.calls.length = 0
})
afterEach(() => {
  expect(fake.refused).toEqual([])
  expect(mcp.openSessions()).toBe(0)
  fake.reset()
})
afterAll(async () => {
  await Promise.all([fake.close(), mcp.close(), outgoing.close()])
})

const city = fields({ city: { type: 'string', 'x-editor': 'text' } }, ['city'])

const toolKind = (type: string, effect: Effect, work: (args: JsonObject) => Promise<Json>): NodeKind =>
  checked({
    descriptor: {
      type,
      kind: 'tool',
      group: 'tools',
      title: type,
      description: 'For tests',
      icon: 'x',
      colour: '#000',
      keywords: [],
      args_schema: city,
      output_schema: {},
      ports: ['out'],
      effect,
      defaults: {},
    },
    async run({ args, effectKey }) {
      done.push({ type, args, key: effectKey })
      return { output: await work(args) }
    },
  })

const weather = toolKind('weather.read', 'idempotent', async ({ city }) => ({ city: city ?? null, degrees: 7 }))
const mail = toolKind('letter.send', 'at_most_once', async () => 'sent')
const sick = toolKind('sick.tool', 'idempotent', async () => {
  throw new NodeFailure('http_status', 'the target answered 500', { details: { status: 500 } })
})
const rotten = toolKind('rotten.tool', 'idempotent', async () => {
  throw new Error('password=hunter2')
})
const long = toolKind('long.tool', 'idempotent', async () => 'x'.repeat(100_000))
/** Replaces the real node. The tests check the arguments it receives. */
const serviceCall: NodeKind = {
  ...mail,
  descriptor: { ...mail.descriptor, type: 'service.call' },
  async run({ args, effectKey }) {
    done.push({ type: 'service.call', args, key: effectKey })
    return { output: 'sent' }
  },
}
const table: Record<string, NodeKind> = Object.fromEntries(
  [weather, mail, sick, rotten, long].map((kind) => [kind.descriptor.type, kind]),
)
const kindOf = (type: string) => {
  if (type === 'branch') return control({ ...weather.descriptor, type: 'branch' })
  if (type === 'agent.run') return node()
  if (type === 'service.call') return serviceCall
  return Object.hasOwn(table, type) ? table[type] : undefined
}
const node = (): NodeKind => makeAgentRun({ llm, outgoing, kindOf })

const run = async (args: JsonObject, more: { journal?: StepJournal; crashWhen?: CrashPoint } = {}) =>
  (await node().run(makeNodeCall({ args: { goal: 'Find out', ...args }, ...more }))) as {
    output: { answer: string; steps: { calls: { ok: boolean; tool: string; result: string }[] }[]; usage: Json }
    usage: JsonObject
  }

const failureOf = async (promise: Promise<unknown>): Promise<NodeFailure> => {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(NodeFailure)
  return error as NodeFailure
}

const call = (name: string, args: unknown = { city: 'Oslo' }) => callTools([{ name, arguments: args }])
const lastToolText = (): string | undefined => fake.asked.at(-1)?.messages.findLast(({ role }) => role === 'tool')?.text

describe('agent.run', () => {
  test('reaches a goal with a tool, and reports its steps and usage', async () => {
    fake.script(call('weather_read'), say('It is 7 degrees in Oslo', { input: 30, output: 5 }))
    const { output, usage } = await run({ tools: ['weather.read'] })
    expect(output).toEqual({
      answer: 'It is 7 degrees in Oslo',
      steps: [
        {
          turn: 1,
          text: '',
          calls: [
            { tool: 'weather.read', arguments: { city: 'Oslo' }, ok: true, result: '{"city":"Oslo","degrees":7}' },
          ],
        },
        { turn: 2, text: 'It is 7 degrees in Oslo', calls: [] },
      ],
      usage: { input_tokens: 50, output_tokens: 15 },
    })
    expect(usage).toEqual({ input_tokens: 50, output_tokens: 15 })
    expect(fake.asked[0]?.tools).toEqual(['weather_read'])
  })

  test('neither offers nor runs a tool that was not granted', async () => {
    fake.script(call('letter_send'), say('I cannot'))
    await run({ tools: ['weather.read'] })
    expect(fake.asked[0]?.tools).toEqual(['weather_read'])
    expect(done).toEqual([])
    expect(lastToolText()).toContain('there is no tool \\"letter_send\\"'.replaceAll('\\', ''))
  })

  test.each(['branch', 'agent.run', 'llm.generate', '__proto__', 'constructor'])(
    '%s cannot be granted',
    async (type) => {
      expect((await failureOf(run({ tools: [type] }))).code).toBe('tool_not_grantable')
      expect(fake.count()).toBe(0)
    },
  )

  test.each([
    ['a missing argument', {}],
    ['an unknown argument', { city: 'Oslo', wind: true }],
    ['an argument of another type', { city: 7 }],
    ['something that is not JSON', '{"city": "Os'],
    ['an expression', { city: { $cel: 'secrets' } }],
  ])('does not run a tool with %s, and tells the model why', async (_what, args) => {
    fake.script(call('weather_read', args), say('done'))
    const { output } = await run({ tools: ['weather.read'] })
    expect(done).toEqual([])
    expect(output.steps[0]?.calls[0]).toMatchObject({ ok: false, result: expect.stringContaining('nothing was done') })
  })

  test('tells the model that a tool failed, and continues', async () => {
    fake.script(call('sick_tool'), say('The service is down'))
    const { output } = await run({ tools: ['sick.tool'] })
    expect(output.answer).toBe('The service is down')
    expect(lastToolText()).toContain('http_status: the target answered 500')
  })

  test('reveals an internal error neither to the model nor to users', async () => {
    fake.script(call('rotten_tool'), say('It broke'))
    const { output } = await run({ tools: ['rotten.tool'] })
    expect(JSON.stringify([output, fake.asked])).not.toContain('hunter2')
  })

  test('shows the model only a part of a long result, and says how much was left out', async () => {
    fake.script(call('long_tool'), say('Long'))
    await run({ tools: ['long.tool'] })
    expect(lastToolText()?.length).toBeLessThan(17_000)
    expect(lastToolText()).toContain('84000 characters left out')
  })

  test('gives each tool call its own effect key, which is the same on every attempt', async () => {
    const oslo = { name: 'weather_read', arguments: { city: 'Oslo' } }
    fake.otherwise((asked) => (asked.messages.length > 4 ? say('done') : callTools([oslo, oslo])))
    await run({ tools: ['weather.read'] })
    const keys = done.map(({ key }) => key)
    expect(keys).toEqual(
      ['exe_1:agent:tool:1.0', 'exe_1:agent:tool:1.1', 'exe_1:agent:tool:2.0', 'exe_1:agent:tool:2.1'].slice(
        0,
        keys.length,
      ),
    )
    expect(new Set(keys).size).toBe(keys.length)
  })

  test('allows no tool call in the last turn, and fails if the model still makes one', async () => {
    fake.otherwise(call('weather_read'))
    const failure = await failureOf(run({ tools: ['weather.read'], max_steps: 3 }))
    expect(failure).toMatchObject({ code: 'step_budget_exceeded', retryable: false })
    expect(failure.details).toMatchObject({ usage: { input_tokens: 40, output_tokens: 20 } })
    expect(fake.asked.map(({ toolChoice }) => toolChoice)).toEqual(['auto', 'auto', 'none'])
    expect(done).toHaveLength(2)
  })

  test('stops when its tokens are used up, and never requests more tokens than are left', async () => {
    fake.otherwise(callTools([{ name: 'weather_read', arguments: { city: 'Oslo' } }], { input: 400, output: 50 }))
    const failure = await failureOf(run({ tools: ['weather.read'], max_tokens: 1_000 }))
    expect(failure.code).toBe('token_budget_exceeded')
    expect(fake.asked.map(({ maxTokens }) => maxTokens)).toEqual([1_000, 550, 100])
  })

  test('runs no tool after a turn that used up the tokens', async () => {
    fake.otherwise(callTools([{ name: 'letter_send', arguments: { city: 'Oslo' } }], { input: 900_000, output: 50 }))
    const failure = await failureOf(run({ tools: ['letter.send'], max_tokens: 10_000 }))
    expect(failure).toMatchObject({ code: 'token_budget_exceeded', retryable: false })
    expect(failure.details).toMatchObject({ steps: [{ turn: 1, calls: [] }], usage: { input_tokens: 900_000 } })
    expect(done).toEqual([])
    expect(fake.count()).toBe(1)
  })

  test('does not send a request that would certainly exceed the token budget', async () => {
    expect((await failureOf(run({ goal: 'x'.repeat(90_000), max_tokens: 1_000 }))).code).toBe('token_budget_exceeded')
    expect(fake.count()).toBe(0)
  })

  test('fails if the answer was cut off', async () => {
    fake.script(cutOff('It is 7 deg'))
    expect((await failureOf(run({}))).code).toBe('token_budget_exceeded')
  })

  test.each([
    ['refuses', refuse('no'), 'model_refused', false],
    ['returns an empty answer', say(''), 'model_output_invalid', true],
    ['is down', status(500), 'provider_unavailable', true],
  ])('a model that %s fails the node', async (_what, answer, code, retryable) => {
    fake.otherwise(answer)
    expect(await failureOf(run({}))).toMatchObject({ code, retryable })
  })

  test('continues on a retry where the previous attempt failed', async () => {
    const journal: StepJournal = new Map()
    fake.script(call('weather_read'), status(400))
    await failureOf(run({ tools: ['weather.read'] }, { journal }))
    fake.script(say('7'))
    expect((await run({ tools: ['weather.read'] }, { journal })).output.answer).toBe('7')
    expect(fake.count()).toBe(3)
    expect(done).toHaveLength(1)
  })

  test('says why it cannot be used without a provider', () => {
    const without = makeAgentRun({ llm: absentModel('set LLM_PROVIDER'), outgoing, kindOf })
    expect(without.unavailableByDefault?.()).toBe('set LLM_PROVIDER')
  })

  test('stops when the execution is cancelled', async () => {
    const stop = new AbortController()
    fake.otherwise(() => {
      stop.abort()
      return call('weather_read')
    })
    const args = { goal: 'x', tools: ['weather.read'] }
    expect((await failureOf(node().run(makeNodeCall({ args, signal: stop.signal })))).code).toBe('aborted')
    expect(done).toEqual([])
  })
})

describe('a crash during agent.run', () => {
  const script = () =>
    fake.otherwise((asked) => {
      const results = asked.messages.filter(({ role }) => role === 'tool').length
      if (results === 0)
        return callTools([
          { name: 'weather_read', arguments: { city: 'Oslo' } },
          { name: 'letter_send', arguments: { city: 'Oslo' } },
        ])
      if (results === 2) return callTools([{ name: 'mcp1_add', arguments: { a: 1, b: 2 } }])
      return say('done')
    })
  const args = () => ({ tools: ['weather.read', 'letter.send'], mcp: [{ url: mcp.url }] })
  const steps = [
    'mcp:0:tools',
    'turn:1',
    'tool:1.0',
    'tool:1.1:begun',
    'tool:1.1',
    'turn:2',
    'tool:2.0:begun',
    'tool:2.0',
    'turn:3',
  ]

  test('can happen after each of these recorded steps', async () => {
    script()
    const journal: StepJournal = new Map()
    await run(args(), { journal })
    expect([...journal.keys()]).toEqual(steps)
  })

  test.each(steps)('after %s was recorded does not repeat any recorded step', async (name) => {
    script()
    const journal: StepJournal = new Map()
    const crashWhen: CrashPoint = (at) => at.name === name && at.moment === 'recorded'
    await expect(run(args(), { journal, crashWhen })).rejects.toThrow(Crash)
    const { output } = await run(args(), { journal })
    expect(output.answer).toBe('done')
    expect(fake.count()).toBe(3)
    const begun = name.endsWith(':begun')
    // The attempt that took over does not repeat a tool call that was started and whose end was not recorded.
    expect(done.filter(({ type }) => type === 'letter.send')).toHaveLength(begun && name.startsWith('tool:1') ? 0 : 1)
    expect(mcp.calls).toHaveLength(begun && name.startsWith('tool:2') ? 0 : 1)
    expect(done.filter(({ type }) => type === 'weather.read')).toHaveLength(1)
  })

  test.each(['tool:1.1', 'tool:2.0'])(
    'after the effect of %s, before its result was recorded, does not cause the effect twice',
    async (name) => {
      script()
      const journal: StepJournal = new Map()
      const crashWhen: CrashPoint = (at) => at.name === name && at.moment === 'done'
      await expect(run(args(), { journal, crashWhen })).rejects.toThrow(Crash)
      const { output } = await run(args(), { journal })
      expect(done.filter(({ type }) => type === 'letter.send')).toHaveLength(1)
      expect(mcp.calls).toHaveLength(1)
      expect(JSON.stringify(output.steps)).toContain('It may have taken effect')
    },
  )

  test('repeats an idempotent tool with the same effect key', async () => {
    script()
    const journal: StepJournal = new Map()
    const crashWhen: CrashPoint = (at) => at.name === 'tool:1.0' && at.moment === 'done'
    await expect(run(args(), { journal, crashWhen })).rejects.toThrow(Crash)
    await run(args(), { journal })
    const keys = done.filter(({ type }) => type === 'weather.read').map(({ key }) => key)
    expect(keys).toEqual(['exe_1:agent:tool:1.0', 'exe_1:agent:tool:1.0'])
  })
})

describe('tools of a tool server', () => {
  test('are offered, checked and called', async () => {
    fake.script(
      callTools([
        { name: 'mcp1_add', arguments: { a: 1, b: 2 } },
        { name: 'mcp1_add', arguments: { a: 'one' } },
        { name: 'mcp1_fail', arguments: {} },
      ]),
      say('3'),
    )
    const { output } = await run({ mcp: { url: mcp.url } })
    expect(fake.asked[0]?.tools).toEqual(['mcp1_add', 'mcp1_fail'])
    expect(output.steps[0]?.calls.map(({ ok, tool }) => [tool, ok])).toEqual([
      ['add', true],
      ['add', false],
      ['fail', false],
    ])
    expect(mcp.calls.map(({ name, idempotencyKey }) => [name, idempotencyKey])).toEqual([
      ['add', 'exe_1:agent:tool:1.0'],
      ['fail', 'exe_1:agent:tool:1.2'],
    ])
  })

  test('are offered only if they were granted', async () => {
    fake.script(say('none'))
    await run({ mcp: [{ url: mcp.url, tools: ['add', 'launch'] }] })
    expect(fake.asked[0]?.tools).toEqual(['mcp1_add'])
  })

  test('are not called at a private address', async () => {
    const guarded = makeOutgoing({ allowTargets: [] })
    const agent = makeAgentRun({ llm, outgoing: guarded, kindOf })
    const failure = await failureOf(agent.run(makeNodeCall({ args: { goal: 'x', mcp: [{ url: mcp.url }] } })))
    expect(failure).toMatchObject({ code: 'target_refused', retryable: false })
    await guarded.close()
  })

  test('can be called through a granted mcp.call, with the same check of the address', async () => {
    const guarded = makeOutgoing({ allowTargets: [] })
    const agent = makeAgentRun({ llm, outgoing, kindOf: () => makeMcpCall({ outgoing: guarded }) })
    fake.script(call('mcp_call', { server: { url: mcp.url }, tool: 'add', arguments: { a: 1, b: 1 } }), say('no'))
    await agent.run(makeNodeCall({ args: { goal: 'x', tools: ['mcp.call'] } }))
    expect(lastToolText()).toContain('target_refused')
    expect(mcp.calls).toEqual([])
    await guarded.close()
  })
})

describe('actions of services as tools', () => {
  const grant = {
    service: 'slack',
    action: 'send_message',
    credential_id: 'cred_01kf3v6h2he3wtpk1fw5c0wz9d',
    arguments: { fixed: { channel: 'C1' } },
  }

  test('are called like the node service.call, with the credential and the fixed arguments of the author', async () => {
    fake.script(
      call('slack_send_message', { channel: 'C2', text: 'Hello' }),
      call('slack_send_message', { text: 'Hello' }),
      say('Sent'),
    )
    const { output } = await run({ tools: [grant] })
    expect(output.steps.flatMap(({ calls }) => calls.map(({ tool, ok }) => [tool, ok]))).toEqual([
      ['slack.send_message', false],
      ['slack.send_message', true],
    ])
    expect(done.map(({ args }) => args)).toEqual([
      {
        service: 'slack',
        action: 'send_message',
        credential_id: grant.credential_id,
        args: { text: 'Hello', channel: 'C1' },
      },
    ])
    expect(JSON.stringify(fake.asked.map(({ body }) => body))).not.toContain(grant.credential_id)
  })

  test('must exist, and so must their fixed arguments', async () => {
    expect((await failureOf(run({ tools: [{ service: 'slack', action: 'fly' }] }))).code).toBe('tool_not_grantable')
    const wrong = { ...grant, arguments: { fixed: { nothing: 1 } } }
    expect((await failureOf(run({ tools: [wrong] }))).message).toContain('has no argument "nothing"')
  })
})

describe('arguments that the author sets', () => {
  const grant = (args: JsonObject): JsonObject => ({ tools: [{ type: 'weather.read', arguments: args }] })

  test('are in every call if fixed, and the model neither sees nor changes them', async () => {
    fake.script(call('weather_read', { city: 'Oslo' }), call('weather_read', {}), say('Seven degrees'))
    const { output } = await run(grant({ fixed: { city: 'Bergen' } }))
    expect(output.steps.flatMap(({ calls }) => calls.map(({ ok }) => ok))).toEqual([false, true])
    expect(done.map(({ args }) => args)).toEqual([{ city: 'Bergen' }])
    expect(JSON.stringify(fake.asked[0]!.body.tools)).not.toContain('city')
  })

  test('can be chosen by the model from the allowed values', async () => {
    fake.script(call('weather_read', { city: 'Rome' }), call('weather_read', { city: 'Oslo' }), say('Seven'))
    const { output } = await run(grant({ allowed: { city: ['Oslo', 'Bergen'] } }))
    expect(output.steps.flatMap(({ calls }) => calls.map(({ ok }) => ok))).toEqual([false, true])
    expect(done.map(({ args }) => args)).toEqual([{ city: 'Oslo' }])
    expect(JSON.stringify(fake.asked[0]!.body.tools)).toContain('["Oslo","Bergen"]')
  })

  test('make another tool of the same node kind', async () => {
    fake.script(call('weather_read', {}), call('weather_read_2', {}), say('Done'))
    await run({
      tools: ['Oslo', 'Rome'].map((city) => ({ type: 'weather.read', arguments: { fixed: { city } } })),
    })
    expect(done.map(({ args }) => args.city)).toEqual(['Oslo', 'Rome'])
  })

  test('must be arguments that the tool has', async () => {
    for (const args of [{ fixed: { town: 'Oslo' } }, { allowed: { town: ['Oslo'] } }] as JsonObject[]) {
      const failure = await failureOf(run(grant(args)))
      expect([failure.code, failure.message]).toEqual(['tool_not_grantable', expect.stringContaining('"town"')])
    }
    expect(fake.asked).toHaveLength(0)
  })

  test('are refused before the tool runs if they do not fit the tool', async () => {
    fake.script(call('weather_read', {}), say('I cannot'))
    const { output } = await run(grant({ fixed: { city: 7 } }))
    expect(output.steps[0]!.calls[0]!.ok).toBe(false)
    expect(done).toEqual([])
  })
})

describe('structured output', () => {
  const schema = fields({ degrees: { type: 'integer' } }, ['degrees'])
  const shownValue = (ran: { output: object }): Json | undefined => (ran.output as { value?: Json }).value

  test('is a value of the schema, corrected once, in addition to the answer', async () => {
    fake.script(call('weather_read'), say('It has 7 degrees'), json({ degrees: 'seven' }), json({ degrees: 7 }))
    const ran = await run({ tools: ['weather.read'], output_schema: schema })
    expect([ran.output.answer, shownValue(ran)]).toEqual(['It has 7 degrees', { degrees: 7 }])
    expect(ran.usage).toMatchObject({ input_tokens: 80 })
  })

  test('is requested once, even if the worker dies afterwards', async () => {
    const journal: StepJournal = new Map()
    fake.script(say('It has 7 degrees'), json({ degrees: 7 }))
    await run({ output_schema: schema }, { journal })
    const again = await run({ output_schema: schema }, { journal })
    expect(shownValue(again)).toEqual({ degrees: 7 })
    expect(fake.asked).toHaveLength(2)
  })

  test.each([[{ type: 'array' }], [{ type: 'object', properties: { a: { type: 'nothing' } } }]])(
    'requires a valid schema of an object: %j',
    async (wrong) => {
      expect((await failureOf(run({ output_schema: wrong as JsonObject }))).code).toBe('args_invalid')
      expect(fake.asked).toHaveLength(0)
    },
  )
})

describe('the cost limit', () => {
  const dear = (cost: number) =>
    callTools([{ name: 'weather_read', arguments: { city: 'Oslo' } }], { input: 5, output: 5, cost })

  test('fails the agent before it calls a tool', async () => {
    fake.script(dear(0.4), dear(0.7))
    const failure = await failureOf(run({ tools: ['weather.read'], max_cost: 1 }))
    expect(failure.code).toBe('cost_budget_exceeded')
    expect(done).toHaveLength(1)
  })

  test('fails the agent if the provider does not report the cost', async () => {
    fake.script(call('weather_read'))
    expect((await failureOf(run({ tools: ['weather.read'], max_cost: 1 }))).code).toBe('cost_unknown')
    expect(done).toEqual([])
  })
})
