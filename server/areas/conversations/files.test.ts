import { beforeAll, describe, expect, test } from 'vitest'
import type { FileValue } from '#engine/files'
import type { Json, JsonObject } from '#model/definition'
import type { Requirement } from '#providers/extraction/index'
import { useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeTemplate, makeToken, makeWorkflow, refund, SITE } from '#test/harness/widget'
import { makeWorld, type World } from '#test/harness/world'
import { filesWanted, withFileNames, withFiles, withoutUsed } from './files.ts'

const file = (id: string): FileValue => ({
  $file: { file_id: id, name: `${id}.txt`, media_type: 'text/plain', bytes: 1, sha256: '' },
})
const FILE = { type: 'object', required: ['$file'] }

describe('the files of a conversation', () => {
  test.each<[string, Json, 'one' | 'many' | null]>([
    ['a file that is required', FILE, 'one'],
    ['a file with an optional $file property', { type: 'object', properties: { $file: { type: 'object' } } }, 'one'],
    ['a list of files', { type: 'array', items: FILE }, 'many'],
    ['text', { type: 'string' }, null],
    ['another object', { type: 'object', required: ['a'] }, null],
    ['a list of texts', { type: 'array', items: { type: 'string' } }, null],
    ['any value', true, null],
  ])('are recognised in the schema of an input: %s', (_what, schema, wanted) => {
    expect(filesWanted(schema)).toBe(wanted)
  })

  const [a, b, c] = [file('a'), file('b'), file('c')] as const
  const requirements = (...wanted: [string, JsonObject][]): Requirement[] =>
    wanted.map(([name, schema]) => ({ name, schema }))
  const many = { type: 'array', items: FILE }
  test.each<[string, Requirement[], JsonObject, FileValue[], object]>([
    ['one file, one input', requirements(['x', FILE]), {}, [a], { x: a }],
    ['two inputs in order', requirements(['x', FILE], ['y', FILE]), {}, [a, b], { x: a, y: b }],
    [
      'an input that already has a file',
      requirements(['x', FILE], ['y', FILE]),
      { x: a as never },
      [b],
      { x: a, y: b },
    ],
    ['remaining files to a list', requirements(['x', FILE], ['y', many]), {}, [a, b, c], { x: a, y: [b, c] }],
    ['more files than inputs', requirements(['x', FILE]), {}, [a, b], { x: a }],
    ['no input for files', requirements(['x', { type: 'string' }]), {}, [a], {}],
    ['no files', requirements(['x', FILE]), {}, [], {}],
  ])('are assigned to inputs: %s', (_what, wanted, known, files, expected) => {
    expect(withFiles(wanted, known, files)).toEqual(expected)
  })

  test('wait for a workflow until an input uses them, at most twenty', () => {
    expect(withoutUsed([a, b], { x: a as never })).toEqual([b])
    expect(withoutUsed([a, b], undefined)).toEqual([a, b])
    expect(
      withoutUsed(
        Array.from({ length: 30 }, (_, n) => file(String(n))),
        {},
      ),
    ).toHaveLength(20)
    expect([withFileNames('Hello', [a]), withFileNames('', [a, b])]).toEqual([
      'Hello\nFile: a.txt',
      'File: a.txt\nFile: b.txt',
    ])
  })
})

const service = useSharedService()
let world: World
let reading: string
const definition = {
  inputs: {
    type: 'object',
    properties: {
      letter: { ...FILE, title: 'your letter' },
      language: { type: 'string', enum: ['English', 'German'] },
    },
    required: ['letter', 'language'],
  },
  nodes: [{ id: 'read', type: 'file.read', args: { file: { $ref: 'input.letter' } } }],
  edges: [],
  output: { said: { $cel: "input.language + ': ' + nodes.read.output.content" }, letter: { $ref: 'input.letter' } },
}

beforeAll(async () => {
  world = await makeWorld(service())
  reading = await makeWorkflow(world.owner, 'Read a letter', definition)
})

async function visit(path: string) {
  const { token } = await makeToken(world.owner, path, { allowed_origins: [SITE] })
  const under = `/api/embed/${path.replace('/api/', '').replace(/s\//, '/')}`
  const { body } = await service().call('GET', `${under}/config`, { token, headers: { origin: SITE } })
  const headers = { origin: SITE, 'x-visitor-token': body.visitor_token as string }
  const call = (method: string, at: string, more: object = {}) =>
    service().call(method, under + at, {
      token,
      ...more,
      headers: { ...headers, ...(more as { headers?: object }).headers },
    })
  const upload = (text: string, name = 'letter.txt') =>
    call('POST', `/files?name=${name}`, { raw: Buffer.from(text), headers: { 'content-type': 'text/plain' } })
  return { call, upload, config: body }
}

const addressIn = (text: string): string => /https?:\/\/\S+\/files\/\S+/.exec(text)![0]

describe('a visitor', () => {
  test('uploads a file into a form, and downloads the file from the result', async () => {
    const template = await makeTemplate(world.owner, [reading])
    const { call, upload, config } = await visit(`/api/templates/${template}`)
    expect(config.takes_files).toBe(true)
    const first = await call('POST', '/chat', { body: { message: 'read a letter' } })
    expect(first.body.messages.at(-1).text).toContain('Please send a file.')
    const kept = await upload('Dear Ada')
    expect([kept.status, kept.body.$file.name]).toEqual([200, 'letter.txt'])
    const { thread_id, form } = first.body
    const submitted = await call('POST', `/thread/${thread_id}/action`, {
      body: { action: 'submit', form_id: form.form_id, values: { letter: kept.body, language: 'German' } },
    })
    expect(submitted.body.execution_id, submitted.text).toBeDefined()
    const result = await until(async () => {
      const { body } = await call('GET', `/thread/${thread_id}/history`)
      return body.items.find(({ text }: { text: string }) => text.includes('German: Dear Ada'))
    }, 'the result')
    expect(await (await fetch(addressIn(result.text))).text()).toBe('Dear Ada')
    const { body: history } = await call('GET', `/thread/${thread_id}/history`)
    expect(history.items.some(({ text }: { text: string }) => text.includes('letter.txt'))).toBe(true)
  })

  test('sends a file with a message before choosing a workflow', async () => {
    const template = await makeTemplate(world.owner, [reading, await makeWorkflow(world.owner, 'Refund', refund)])
    const { call, upload } = await visit(`/api/templates/${template}`)
    const { body: kept } = await upload('Hello')
    const first = await call('POST', '/chat', { body: { files: [kept.$file.file_id] } })
    expect(first.body.messages.at(-1).text, first.text).toContain('language')
    const { thread_id } = first.body
    const second = await call('POST', '/chat', { body: { thread_id, message: 'English' } })
    expect(second.body.execution_id, second.text).toBeDefined()
  })

  test('cannot upload if no workflow accepts files, and cannot name files of other visitors', async () => {
    const none = await makeTemplate(world.owner, [await makeWorkflow(world.owner, 'Refund', refund)])
    const plain = await visit(`/api/templates/${none}`)
    expect(plain.config.takes_files).toBe(false)
    expect((await plain.upload('x')).status).toBe(403)
    const template = await makeTemplate(world.owner, [reading])
    const [one, other] = [await visit(`/api/templates/${template}`), await visit(`/api/templates/${template}`)]
    const { body: kept } = await one.upload('secret')
    const named = await other.call('POST', '/chat', { body: { message: 'read', files: [kept.$file.file_id] } })
    expect([named.status, named.body.errors?.[0].path]).toEqual([422, '/files/0'])
    // The file in a form does not help either: the execution may not read it.
    const first = await other.call('POST', '/chat', { body: { message: 'read a letter' } })
    const { thread_id, form } = first.body
    const { body: started } = await other.call('POST', `/thread/${thread_id}/action`, {
      body: { action: 'submit', form_id: form.form_id, values: { letter: kept, language: 'German' } },
    })
    const ended = await until(async () => {
      const { body } = await other.call('GET', `/execution/${started.execution_id}/status`)
      return body.finished_at && body
    }, 'the end')
    expect([ended.status, JSON.stringify(ended).includes('secret')]).toEqual(['failed', false])
  })

  test('has at most twenty files that no workflow has used', async () => {
    const template = await makeTemplate(world.owner, [reading])
    const { upload } = await visit(`/api/templates/${template}`)
    const statuses: number[] = []
    while (statuses.length < 21) {
      const { status } = await upload('x')
      if (status !== 429) statuses.push(status)
    }
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 200), 409])
  })

  test('of a workflow widget gives the workflow a file', async () => {
    const { call, upload } = await visit(`/api/workflows/${reading}`)
    const { body: begun } = await call('POST', '/gather', { body: {} })
    expect(begun.missing).toEqual(['letter', 'language'])
    const { body: kept } = await upload('Gathered')
    const { conversation_id } = begun
    const given = await call('POST', '/gather', { body: { conversation_id, files: [kept.$file.file_id] } })
    expect(given.body.missing, given.text).toEqual(['language'])
    const done = await call('POST', '/gather', { body: { conversation_id, message: 'English' } })
    expect(done.body.complete, done.text).toBe(true)
    const ended = await until(async () => {
      const { body } = await call('GET', `/executions/${done.body.execution_id}`)
      return body.finished_at && body
    }, 'the end')
    expect(ended.results).toMatchObject({ said: 'English: Gathered', letter: { $file: { name: 'letter.txt' } } })
    expect(await (await fetch(ended.results.letter.$file.url)).text()).toBe('Gathered')
  })
})

test('a colleague can send a file in a thread', async () => {
  const template = await makeTemplate(world.owner, [reading])
  const { body: thread } = await world.owner.call('POST', '/api/chat-thread', {
    body: { title: 'Letters', template_id: template },
  })
  const { body: kept } = await world.owner.call('POST', '/api/files?name=letter.txt', {
    raw: Buffer.from('Dear colleague'),
    headers: { 'content-type': 'text/plain' },
  })
  const path = `/api/chat-thread/${thread.thread_id}/messages`
  const said = await world.owner.call('POST', path, {
    body: { text: 'read a letter in English', files: [kept.$file.file_id] },
  })
  expect([said.status, said.body.text], said.text).toEqual([201, 'read a letter in English\nFile: letter.txt'])
  const result = await until(async () => {
    const { body } = await world.owner.call('GET', path)
    return body.items.find(({ text }: { text: string }) => text.includes('English: Dear colleague'))
  }, 'the result')
  expect(await (await fetch(addressIn(result.text))).text()).toBe('Dear colleague')
  expect((await world.owner.call('POST', path, { body: { text: '' } })).status).toBe(422)
})
