import { afterAll, beforeAll, expect, test } from 'vitest'
import { allowServiceConnections, type Program, startProgram } from '#test/harness/program'
import { type Answer, call, type Service, startService } from '#test/harness/service'
import { isSlowRun } from '#test/harness/slow'
import { makeTemporaryDirectory } from '#test/harness/temporary'
import { until } from '#test/harness/until'
import { makeTemplate, makeToken, makeWorkflow, refund } from '#test/harness/widget'
import { makeWorld } from '#test/harness/world'

// Servers are killed while visitors talk. Each visitor repeats every unanswered request with the same key.

const VISITORS = isSlowRun ? 8 : 4
const KILLS = isSlowRun ? 2 : 1
/** A program takes seconds to start, and much longer on a busy machine. */
const PATIENCE = 120_000
const MESSAGES = ['Hello', 'I want a refund', 'order 1042', 'it came late']

let service: Service
let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>
let program: Program
let base = ''

const start = async (): Promise<void> => {
  program = startProgram({
    DATABASE_URL: service.database.superuserUrl,
    HEDDLE_DATA_DIR: directory.path,
    HEDDLE_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    HEDDLE_LOG_LEVEL: 'silent',
    HEDDLE_RATE_LIMITS: 'off',
    HEDDLE_DEMO: 'off',
  })
  base = await program.ready
  await allowServiceConnections(service)
}

beforeAll(async () => {
  // Provides only the database and the people. The conversations run on separate programs.
  service = await startService()
  directory = await makeTemporaryDirectory()
  await start()
}, PATIENCE)
afterAll(async () => {
  await program?.stop('SIGKILL')
  await service?.stop()
  await directory?.remove()
})

test(
  'no message is lost or stored twice, and every result is posted once',
  async () => {
    const world = await makeWorld(service)
    const template = await makeTemplate(world.owner, [await makeWorkflow(world.owner, 'Request a refund', refund)])
    const { token } = await makeToken(world.owner, `/api/templates/${template}`)
    const path = `/api/embed/template/${template}`

    /** Repeats the request until a server answers. */
    const insist = (
      method: string,
      at: string,
      body?: unknown,
      headers: Record<string, string> = {},
    ): Promise<Answer> =>
      until(
        async () => {
          const answer = await call(base, method, path + at, {
            token,
            headers,
            ...(body !== undefined && { body }),
          }).catch(() => undefined)
          return answer && answer.status < 500 ? answer : undefined
        },
        `${method} ${at}`,
        PATIENCE,
      )

    let said = 0
    const talk = async (
      visitor: number,
    ): Promise<{ thread: string; execution: string; headers: Record<string, string> }> => {
      const config = await insist('GET', '/config')
      const headers = { 'x-visitor-token': config.body.visitor_token as string }
      let thread = ''
      let execution = ''
      for (const [at, message] of MESSAGES.entries()) {
        const key = { ...headers, 'idempotency-key': `visitor-${visitor}-${at}` }
        const answer = await insist('POST', '/chat', { message, ...(thread && { thread_id: thread }) }, key)
        expect([message, answer.status, answer.text]).toEqual([message, 200, answer.text])
        thread = answer.body.thread_id
        execution = answer.body.execution_id ?? execution
        said += 1
      }
      return { thread, execution, headers }
    }

    const talks = Promise.all(Array.from({ length: VISITORS }, (_, visitor) => talk(visitor)))
    talks.catch(() => {})
    for (let kill = 1; kill <= KILLS; kill++) {
      await until(async () => said >= (kill * VISITORS * MESSAGES.length) / (KILLS + 1), 'enough to be said', PATIENCE)
      await program.stop('SIGKILL')
      // Simulates that the minute has passed after which an attempt counts as abandoned.
      await service.sql(
        `update idempotency_keys set created_at = created_at - interval '2 minutes' where state = 'in_progress'`,
      )
      await start()
    }

    for (const { thread, execution, headers } of await talks) {
      expect(execution).not.toBe('')
      await until(
        async () => (await insist('GET', `/execution/${execution}/status`, undefined, headers)).body.finished_at,
        'the end',
        PATIENCE,
      )
      const { body } = await insist('GET', `/thread/${thread}/history?limit=200`, undefined, headers)
      const texts = (body.items as { role: string; text: string }[]).map(({ role, text }) => `${role}: ${text}`)
      expect(texts.filter((text) => text.startsWith('visitor'))).toEqual(MESSAGES.map((text) => `visitor: ${text}`))
      expect(texts.filter((text) => text.includes('I have started'))).toHaveLength(1)
      expect(texts.filter((text) => text === 'assistant: order: 1042\nreason: late')).toHaveLength(1)
    }
    const [count] = await service.sql<{ executions: number }>('select count(*)::int as executions from executions')
    expect(count!.executions).toBe(VISITORS)
  },
  3 * PATIENCE,
)
