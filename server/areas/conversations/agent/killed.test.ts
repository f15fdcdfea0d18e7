import { afterAll, beforeAll, expect, test } from 'vitest'
import { callTools, type FakeAnswer, hang, say } from '#test/fakes/llm/answers'
import type { Asked } from '#test/fakes/llm/chat'
import { FAKE_KEY, type FakeLlm, startFakeLlm } from '#test/fakes/llm/server'
import { allowServiceConnections, type Program, startProgram } from '#test/harness/program'
import { type Answer, call, type Service, startService } from '#test/harness/service'
import { makeTemporaryDirectory } from '#test/harness/temporary'
import { until } from '#test/harness/until'
import { makeTemplate, makeToken, makeWorkflow, refund } from '#test/harness/widget'
import { makeWorld } from '#test/harness/world'

// A program is killed while four visitors wait: one for the first text of the model, two for a workflow that the model
// started, and one for the last text of the model. Another process answers all of them and starts nothing a second
// time. One of the two workflows ends while no process waits for it, the other while the new process waits.

const PATIENCE = 120_000

let service: Service
let model: FakeLlm
let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>
let program: Program
let base = ''

const modelSettings = () => ({
  LLM_PROVIDER: 'openai-compatible',
  LLM_MODEL: 'fake-model',
  LLM_API_KEY: FAKE_KEY,
  LLM_BASE_URL: model.baseUrl,
  // The test decides when a workflow ends, so a slow machine must not cause a timeout.
  HEDDLE_ASSISTANT_WAIT_S: '90',
})

const start = async (): Promise<void> => {
  program = startProgram({
    DATABASE_URL: service.database.superuserUrl,
    HEDDLE_DATA_DIR: directory.path,
    HEDDLE_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    HEDDLE_LOG_LEVEL: 'silent',
    HEDDLE_RATE_LIMITS: 'off',
    HEDDLE_DEMO: 'off',
    ...modelSettings(),
  })
  base = await program.ready
  await allowServiceConnections(service)
}

beforeAll(async () => {
  model = await startFakeLlm()
  service = await startService({ env: modelSettings() })
  directory = await makeTemporaryDirectory()
  await start()
}, PATIENCE)
afterAll(async () => {
  await program?.stop('SIGKILL')
  await service?.stop()
  await model?.close()
  await directory?.remove()
})

test(
  'a killed process neither repeats a tool call nor loses an answer',
  async () => {
    const world = await makeWorld(service)
    const quick = await makeWorkflow(world.owner, 'Quick refund', refund)
    const slow = await makeWorkflow(world.owner, 'Slow refund', {
      ...refund,
      nodes: [{ id: 'pause', type: 'wait.event', args: { key: { $ref: 'input.note' }, due_in_s: 3600 } }],
    })
    const template = await makeTemplate(world.owner, [quick, slow], { mode: 'agent' })
    const { token } = await makeToken(world.owner, `/api/templates/${template}`)
    const path = `/api/embed/template/${template}`
    const wishes = ['first', 'slow-unwatched', 'slow-watched', 'last']

    let killed = false
    const reached = { first: false, last: false }
    const answerTo = (asked: Asked): FakeAnswer => {
      const wish = asked.messages.findLast(({ role }) => role === 'user')!.text
      const told = asked.messages.at(-1)!
      const name = asked.tools.find((tool) => tool.startsWith(wish.startsWith('slow') ? 'slow' : 'quick'))!
      if (wish === 'first' && !killed) {
        reached.first = true
        return hang()
      }
      if (told.role !== 'tool') return callTools([{ name, arguments: { order: 1, reason: 'late', note: wish } }])
      if (wish === 'last' && !killed) {
        reached.last = true
        return hang()
      }
      return say(told.text.includes('"succeeded"') ? `Answer to ${wish}` : `Answer to ${wish} without a result`)
    }
    model.otherwise(answerTo)

    const config = await call(base, 'GET', `${path}/config`, { token })
    const visitor = { 'x-visitor-token': config.body.visitor_token as string }
    const chat = (message: string): Promise<Answer> =>
      call(base, 'POST', `${path}/chat`, {
        token,
        body: { message },
        headers: { ...visitor, 'idempotency-key': message },
      })
    const talks = wishes.map((message) => chat(message).catch(() => undefined))
    const countWaiting = async (): Promise<number> =>
      (
        await service.sql<{ runs: number }>(
          `select count(*)::int as runs from executions where status = 'waiting' and waiting_for::text like '%"event"%'`,
        )
      )[0]!.runs
    await until(async () => reached.first && reached.last && (await countWaiting()) === 2, 'all four to wait', PATIENCE)
    await program.stop('SIGKILL')
    // No process takes over the turns before the first workflow has ended.
    await service.sql(`update assistant_turns set lease_until = now() + interval '1 hour' where status = 'open'`)
    killed = true
    await Promise.all(talks)
    const send = async (key: string): Promise<void> => {
      const sent = await world.owner.call('POST', '/api/events', { body: { key, data: {} } })
      expect(sent.body, sent.text).toMatchObject({ woken: 1 })
    }
    await send('slow-unwatched')
    await until(
      async () =>
        (
          await service.sql(
            `select from executions e join thread_executions t using (workspace_id, execution_id)
           where t.title = 'Slow refund' and e.status = 'succeeded' and not e.tell_end`,
          )
        ).length === 1,
      'the end of the workflow that nobody waits for to be told',
      PATIENCE,
    )
    await service.sql(`update assistant_turns set lease_until = now() where status = 'open'`)
    await until(
      async () =>
        (
          await service.sql(
            `select from assistant_turns a join messages m using (workspace_id, thread_id, seq)
             where m.text = 'slow-watched' and a.attempts = 2`,
          )
        ).length === 1,
      'another process to wait for the other workflow',
      PATIENCE,
    )
    await send('slow-watched')

    const answersOf = (wish: string): Promise<string[]> =>
      service
        .sql<{ text: string }>(
          `select m.text from messages m join messages w on w.workspace_id = m.workspace_id and w.thread_id = m.thread_id
           where w.text = $1 and w.role = 'visitor' and m.role = 'assistant' and m.seq > w.seq order by m.seq`,
          [wish],
        )
        .then((rows) => rows.map(({ text }) => text))
    for (const wish of wishes)
      await until(async () => (await answersOf(wish)).length > 0, `an answer to ${wish}`, PATIENCE)
    await until(
      async () => (await service.sql('select from executions where tell_end')).length === 0,
      'every end to be told',
      PATIENCE,
    )
    for (const wish of wishes) expect(await answersOf(wish)).toEqual([`Answer to ${wish}`])
    const runs = await service.sql<{ title: string; runs: number }>(
      'select title, count(*)::int as runs from thread_executions group by title order by title',
    )
    expect(runs).toEqual([
      { title: 'Quick refund', runs: 2 },
      { title: 'Slow refund', runs: 2 },
    ])
    expect(model.refused).toEqual([])
  },
  3 * PATIENCE,
)
