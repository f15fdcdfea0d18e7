import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import * as discord from '#test/fakes/channels/discord'
import type { FakeVendor, Sent } from '#test/fakes/channels/server'
import * as slack from '#test/fakes/channels/slack'
import * as telegram from '#test/fakes/channels/telegram'
import { type Answer, type Service, startService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeTemplate } from '#test/harness/widget'
import { addMember, makePerson, makeWorld, type TestPerson, type World } from '#test/harness/world'

// Gates and questions in Slack, Telegram and Discord: the buttons of a message, and who may press them.

type Request = { raw: string; headers: Record<string, string> }
type Way = {
  config: object
  direct(text: string, who?: string): Request
  shared(text: string): Request
  press(value: string, who?: string): Request
}

const ways: Record<'slack' | 'telegram' | 'discord', Way> = {
  slack: {
    config: {
      external_id: 'T0HOME',
      credentials: { bot_token: slack.SLACK_TOKEN, signing_secret: slack.SLACK_SECRET },
    },
    direct: (text) => slack.fromSlack(slack.slackMessage(text)),
    shared: (text) => slack.fromSlack(slack.slackMessage(text, { channel: 'C0CHANNEL', channel_type: 'channel' })),
    press: (value, who = 'U0PERSON') => slack.fromSlack(slack.slackPress(value, who), { form: true }),
  },
  telegram: {
    config: {
      external_id: 'heddle_bot',
      credentials: { bot_token: telegram.TELEGRAM_TOKEN, secret_token: telegram.TELEGRAM_SECRET },
    },
    direct: (text) => telegram.fromTelegram(telegram.telegramMessage(text)),
    shared: (text) => telegram.fromTelegram(telegram.telegramMessage(text, 77, -500)),
    press: (value, who = '77') => telegram.fromTelegram(telegram.telegramPress(value, Number(who))),
  },
  discord: {
    config: {
      external_id: '845027738276462632',
      credentials: { bot_token: discord.DISCORD_TOKEN, public_key: discord.DISCORD_PUBLIC_KEY },
    },
    direct: (text) => discord.fromDiscord(discord.discordDirect(text)),
    shared: (text) => discord.fromDiscord(discord.discordCommand(text)),
    press: (value, who) => discord.fromDiscord(discord.discordPress(value, who)),
  },
}
const names = Object.keys(ways) as (keyof typeof ways)[]

let fakes: Record<keyof typeof ways, FakeVendor>
let service: Service
let world: World
beforeAll(async () => {
  fakes = {
    slack: await slack.startSlack(),
    telegram: await telegram.startTelegram(),
    discord: await discord.startDiscord(),
  }
  service = await startService({
    env: {
      SLACK_API_BASE: fakes.slack.base,
      TELEGRAM_API_BASE: fakes.telegram.base,
      DISCORD_API_BASE: fakes.discord.base,
    },
  })
})
afterAll(async () => {
  await service?.stop()
  await Promise.all(Object.values(fakes).map((fake) => fake.close()))
})

/** Waits until nothing is left to send, so that one test does not affect the next. */
const settled = (): Promise<unknown> =>
  until(async () => {
    const [row] = await service.sql<{ n: number }>(
      `select (select count(*) from channel_sends where state = 'waiting') + (select count(*) from channel_deliveries where state = 'waiting')
         + (select count(*) from reach_messages where identity_id is not null and state = 'due') as n`,
    )
    return Number(row!.n) === 0
  }, 'all messages to be sent')
afterEach(settled)

type Here = {
  name: keyof typeof ways
  person: TestPerson
  call(request: Request): Promise<Answer>
  link(request?: (text: string) => Request): Promise<string>
}

/** Creates a workspace with a channel of the vendor and with a colleague. */
async function begin(name: keyof typeof ways): Promise<Here> {
  world = await makeWorld(service)
  const person = await makePerson(service, { name: 'Ada' })
  await addMember(service, world.workspace, person, 'member')
  fakes[name].sent.length = 0
  const template_id = await makeTemplate(world.owner, [])
  const made = await world.owner.call('POST', '/api/gateway/channels', {
    body: { channel: name, template_id, ...ways[name].config },
  })
  expect(made.status, made.text).toBe(201)
  const { config_id } = made.body
  const call = ({ raw, headers }: Request) => service.call('POST', `/gateway/${name}/${config_id}`, { raw, headers })
  return {
    name,
    person,
    call,
    async link(request = ways[name].direct) {
      const asked = await person.call('POST', '/api/notifications/channels', { body: { config_id } })
      expect(asked.status, asked.text).toBe(200)
      const count = fakes[name].sent.length
      expect((await call(request(asked.body.text))).status).toBe(200)
      return (await sentAfter(name, count)).text
    },
  }
}

const sentAfter = (name: keyof typeof ways, count: number): Promise<Sent> =>
  until(async () => fakes[name].sent[count], 'a message of the channel')

async function start(node: object): Promise<string> {
  const definition = { nodes: [{ id: 'ask', ...node }], edges: [] }
  const made = await world.owner.call('POST', '/api/workflows', { body: { name: 'Asks', definition } })
  expect(made.status, made.text).toBe(201)
  const { body } = await world.owner.call('POST', `/api/workflows/${made.body.workflow_id}/run`, { body: {} })
  return body.execution_id
}
const gate = (people: TestPerson[], payload: unknown = { amount: 5 }, quorum: unknown = 'any') => ({
  type: 'approval',
  args: {
    title: 'Pay this?',
    payload,
    policy: { approvers: people.map(({ id }) => ({ kind: 'user', id })), quorum },
  },
})
const statusOf = (execution: string, wanted: string) =>
  until(async () => {
    const { body } = await world.owner.call('GET', `/api/workflows/executions/${execution}`)
    return body.status === wanted ? body : undefined
  }, `the execution to be ${wanted}`)
const votesOf = async (execution: string) => {
  const { body } = await world.owner.call('GET', `/api/workflows/executions/${execution}/approvals`)
  return body.items[0]
}

describe.each(names)('in %s', (name) => {
  test('a gate is decided with a button only by the person to whom the message was sent', async () => {
    const here = await begin(name)
    expect(await here.link()).toContain('You are Ada here')
    const count = fakes[name].sent.length
    const execution = await start(gate([here.person]))
    const message = await sentAfter(name, count)
    expect(message.text).toContain('Pay this?')
    expect(message.text).toContain('"amount": 5')
    expect(message.text).toMatch(/sha256 [0-9a-f]{64}/)
    expect(Object.keys(message.buttons!)).toEqual(['Approve', 'Reject'])
    const approve = message.buttons!.Approve!
    const forged = approve.slice(0, -2) + (approve.endsWith('AA') ? 'BB' : 'AA')
    for (const request of [ways[name].press(approve, '90909'), ways[name].press(forged)]) {
      expect((await here.call(request)).status).toBe(200)
      expect((await votesOf(execution)).status).toBe('open')
    }
    expect((await here.call(ways[name].press(approve))).status).toBe(200)
    await statusOf(execution, 'succeeded')
    const decided = await votesOf(execution)
    expect(decided.status).toBe('approved')
    const changed = await until(async () => fakes[name].sent.findLast((one) => one.instead !== undefined), 'the change')
    expect(changed.text).toMatch(/Pay this\?[\s\S]*(You voted: approve|Approved)/)
    expect(changed.buttons).toBeUndefined()
    expect((await here.call(ways[name].press(approve))).status).toBe(200)
    expect(fakes[name].refused).toEqual([])
  })

  test('a message shows who voted through another channel', async () => {
    const here = await begin(name)
    await here.link()
    const count = fakes[name].sent.length
    const execution = await start(gate([here.person, world.member]))
    const message = await sentAfter(name, count)
    const { request_id, payload_sha256 } = await votesOf(execution)
    const voted = await world.member.call('POST', `/api/approvals/${request_id}/votes`, {
      body: { decision: 'approve', payload_sha256 },
    })
    expect(voted.status, voted.text).toBeLessThan(300)
    const changed = await until(async () => fakes[name].sent.findLast((one) => one.instead !== undefined), 'the change')
    expect(changed.text).toContain('Max Member')
    expect((await here.call(ways[name].press(message.buttons!.Reject!))).status).toBe(200)
    expect((await votesOf(execution)).status).toBe('approved')
  })

  test('an account is linked once, in a direct message, and can be unlinked', async () => {
    const here = await begin(name)
    expect(await here.link(ways[name].shared)).toContain('directly')
    expect((await here.person.call('GET', '/api/notifications/identities')).body.items).toEqual([])
    await here.link()
    const { items } = (await here.person.call('GET', '/api/notifications/identities')).body
    expect(items).toMatchObject([{ channel: name, sender_name: expect.any(String) }])
    const count = fakes[name].sent.length
    await here.call(ways[name].direct('link heddle-abcdefghjkmn'))
    expect((await sentAfter(name, count)).text).toContain('no longer valid')
    expect((await here.person.call('DELETE', `/api/notifications/identities/${items[0].identity_id}`)).status).toBe(204)
    const execution = await start(gate([here.person]))
    await until(async () => (await votesOf(execution))?.status === 'open', 'the gate')
    await settled()
    expect(fakes[name].sent.slice(count + 1)).toEqual([])
  })
})

test('Slack shows only to the person why a button had no effect, and the service calls no other host', async () => {
  const here = await begin('slack')
  await here.link()
  const { sent, base } = fakes.slack
  const count = sent.length
  const execution = await start(gate([here.person]))
  const { buttons } = await sentAfter('slack', count)
  const press = (value: string, who: string, url = `${base}/actions/${who}`) =>
    here.call(slack.fromSlack(slack.slackPress(value, who, url), { form: true }))
  const toldTo = (who: string): string[] => sent.flatMap(({ to, text }) => (to === who ? [text] : []))
  await press(buttons!.Approve!, 'U0OTHER')
  await press('h1.forged', 'U0FORGER')
  expect(toldTo('U0OTHER')).toEqual(['This was sent to somebody else.'])
  expect(toldTo('U0FORGER')).toEqual(['This button no longer works.'])
  await press(buttons!.Approve!, 'U0PERSON')
  await statusOf(execution, 'succeeded')
  expect(toldTo('U0PERSON')).toEqual([])
  await press(buttons!.Reject!, 'U0PERSON')
  expect(toldTo('U0PERSON')).toEqual([expect.stringMatching(/^(?:You voted: approve|Approved)/)])
  const elsewhere = await slack.startSlack()
  expect((await press(buttons!.Reject!, 'U0PERSON', `${elsewhere.base}/actions/U0PERSON`)).status).toBe(200)
  expect(elsewhere.sent).toEqual([])
  await elsewhere.close()
  // Waits for the change of the message, so that another request is the one that fails.
  await settled()
  fakes.slack.next('hang up')
  expect((await press(buttons!.Reject!, 'U0PERSON')).status).toBe(200)
})

test('a question with few answers has buttons; a gate whose payload is too long has none', async () => {
  const here = await begin('telegram')
  await here.link()
  const { sent } = fakes.telegram
  let count = sent.length
  const who = [{ kind: 'user', id: here.person.id }]
  const schema = { type: 'string', enum: ['green', 'red'] }
  const args = { question: 'Which colour?', schema, who, due_in_s: 3600 }
  const execution = await start({ type: 'clarification', args })
  const asked = await sentAfter('telegram', count)
  expect(asked.text).toMatch(/\n\nDue \w{3} \d+, \d{4}, .+ UTC\n\n/)
  expect(Object.keys(asked.buttons!)).toEqual(['green', 'red'])
  await here.call(ways.telegram.press(asked.buttons!.red!))
  await statusOf(execution, 'succeeded')
  await until(async () => sent.findLast((one) => one.instead !== undefined), 'the change')
  await settled()
  count = sent.length
  await start(gate([here.person], { text: 'x'.repeat(3000) }))
  const large = await sentAfter('telegram', count)
  expect(large.buttons).toBeUndefined()
  expect(large.text).toContain('Answer in the console')
})

test('messages in a chat are in the language of the person', async () => {
  const here = await begin('telegram')
  await here.link()
  await here.person.call('PUT', '/api/notifications/preferences', { body: { preferences: [], language: 'de' } })
  const { sent } = fakes.telegram
  const count = sent.length
  const execution = await start(gate([here.person, world.member]))
  const message = await sentAfter('telegram', count)
  expect(message.text).toContain('Ihre Stimme wird gebraucht: Pay this?')
  expect(message.text).toContain('Arbeitsbereich: Home')
  expect(Object.keys(message.buttons!)).toEqual(['Zustimmen', 'Ablehnen'])
  const { request_id, payload_sha256 } = await votesOf(execution)
  const body = { decision: 'approve', payload_sha256 }
  expect((await world.member.call('POST', `/api/approvals/${request_id}/votes`, { body })).status).toBeLessThan(300)
  const changed = await until(async () => sent.findLast((one) => one.instead !== undefined), 'the change')
  expect(changed.text).toContain('Zugestimmt von Max Member')
  await here.call(ways.telegram.press(message.buttons!.Ablehnen!))
  expect((await votesOf(execution)).status).toBe('approved')
})

test('the replies about linking and the outcome of a gate are in the language of the person', async () => {
  const here = await begin('telegram')
  const inGerman = (chat: number) => (text: string) => {
    const update = telegram.telegramMessage(text, 77, chat)
    return telegram.fromTelegram({
      ...update,
      message: { ...update.message, from: { ...update.message.from, language_code: 'de-CH' } },
    })
  }
  // Before the code identifies the person, the vendor's locale determines the language.
  expect(await here.link(inGerman(-500))).toContain('Schreiben Sie mir das direkt')
  const { sent } = fakes.telegram
  let count = sent.length
  await here.call(inGerman(77)('link heddle-abcdefghjkmn'))
  expect((await sentAfter('telegram', count)).text).toContain('Dieser Code gilt nicht mehr')
  await here.person.call('PUT', '/api/notifications/preferences', { body: { preferences: [], language: 'de' } })
  expect(await here.link()).toContain('Sie sind hier Ada')

  count = sent.length
  const execution = await start(gate([here.person]))
  await sentAfter('telegram', count)
  await world.owner.call('POST', `/api/workflows/executions/${execution}/cancel`, { body: {} })
  const changed = await until(async () => sent.findLast((one) => one.instead !== undefined), 'the change')
  expect(changed.text).toContain('Zurückgezogen: Der Lauf wartet nicht mehr darauf')
})

test('the preferences of a person decide whether a notice is sent to their chat', async () => {
  const here = await begin('telegram')
  await here.link()
  const preferences = [{ kind: 'approval.requested', app: true, mail: false, channel: false }]
  const set = await here.person.call('PUT', '/api/notifications/preferences', { body: { preferences } })
  const chosen = set.body.preferences.find(({ kind }: { kind: string }) => kind === 'approval.requested')
  expect(chosen.channel).toBe(false)
  const execution = await start(gate([here.person]))
  await until(async () => (await votesOf(execution))?.status === 'open', 'the gate')
  const rows = await service.sql(`select from reach_messages where user_id = $1 and identity_id is not null`, [
    here.person.uuid,
  ])
  expect(rows).toEqual([])
})

test('only channels of the caller’s workspace that support buttons can be linked', async () => {
  const here = await begin('telegram')
  const { channels } = (await here.person.call('GET', '/api/notifications/channels')).body
  expect(channels).toMatchObject([{ channel: 'telegram' }])
  const body = { config_id: channels[0].config_id }
  const refused = await world.stranger.call('POST', '/api/notifications/channels', { body })
  expect([refused.status, refused.body.errors[0].path]).toEqual([422, '/config_id'])
})
