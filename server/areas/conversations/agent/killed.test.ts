import { afterAll, beforeAll, expect, test } from 'vitest'
import { callTools, type FakeAnswer, hang, say } from '#test/fakes/llm/answers'
import type { Asked } from '#test/fakes/llm/chat'
import { FAKE_KEY, type FakeLlm, startFakeLlm } from '#test/fakes/llm/server'
import { type Program, startProgram } from '#test/harness/program'
import { type Answer, call, type Service, startService } from '#test/harness/service'
import { makeTemporaryDirectory } from '#test/harness/temporary'
import { until } from '#test/harness/until'
import { makeTemplate, makeToken, makeWorkflow, refund } from '#test/harness/widget'
import { makeWorld } from '#test/harness/world'

// A program is killed outright while three visitors wait: one for the first words of the model, one for a workflow that the model
// started, one for its last words. Another process answers all of them, and starts nothing a second time.

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
  'neither repeats a tool nor loses an answer',
  async () => {
    const world = await makeWorld(service)
    const quick = await makeWorkflow(world.owner, 'Quick refund', refund)
    const slow = await makeWorkflow(world.owner, 'Slow refund', {
      ...refund,
      nodes: [{ id: 'pause', type: 'wait', args: { for_s: 5 } }],
    })
    const template = await makeTemplate(world.owner, [quick, slow], { mode: 'agent' })
    const { token } = await makeToken(world.owner, `/api/templates/${template}`)
    const path = `/api/embed/template/${template}`

    let killed = false
    const reached = { first: false, last: false }
    const answerTo = (asked: Asked): FakeAnswer => {
      const wish = asked.messages.findLast(({ role }) => role === 'user')!.text
      const done = asked.messages.at(-1)!.role === 'tool'
      const name = asked.tools.find((tool) => tool.startsWith(wish === 'slow' ? 'slow' : 'quick'))!
      if (wish === 'first' && !killed) {
        reached.first = true
        return hang()
      }
      if (!done) return callTools([{ name, arguments: { order: 1, reason: 'late' } }])
      if (wish === 'last' && !killed) {
        reached.last = true
        return hang()
      }
      return say(`Answer to ${wish}`)
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
    const talks = ['first', 'slow', 'last'].map((message) => chat(message).catch(() => undefined))
    await until(
      async () => {
        const [row] = await service.sql<{ waiting: number }>(
          `select count(*)::int as waiting from executions where status = 'waiting' and waiting_for::text like '%timer%'`,
        )
        return reached.first && reached.last && row!.waiting === 1
      },
      'all three to wait',
      PATIENCE,
    )
    await program.stop('SIGKILL')
    killed = true
    await Promise.all(talks)

    const answersOf = (wish: string): Promise<string[]> =>
      service
        .sql<{ text: string }>(
          `select m.text from messages m join messages w on w.workspace_id = m.workspace_id and w.thread_id = m.thread_id
           where w.text = $1 and w.role = 'visitor' and m.role = 'assistant' and m.seq > w.seq order by m.seq`,
          [wish],
        )
        .then((rows) => rows.map(({ text }) => text))
    for (const wish of ['first', 'slow', 'last'])
      await until(async () => (await answersOf(wish)).length > 0, `an answer to ${wish}`, PATIENCE)
    for (const wish of ['first', 'slow', 'last']) expect(await answersOf(wish)).toEqual([`Answer to ${wish}`])
    const runs = await service.sql<{ title: string; runs: number }>(
      'select title, count(*)::int as runs from thread_executions group by title order by title',
    )
    expect(runs).toEqual([
      { title: 'Quick refund', runs: 2 },
      { title: 'Slow refund', runs: 1 },
    ])
    expect(model.refused).toEqual([])
  },
  3 * PATIENCE,
)
