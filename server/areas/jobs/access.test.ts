import { beforeAll, describe, expect, test } from 'vitest'
import { newId, toWire } from '#platform/ids'
import { freshEmail } from '#test/harness/browser'
import { echoWorkflow, makeDataset, makeJob, makeRetriesDue, makeWorkflow, numbered, runJob } from '#test/harness/jobs'
import { useSharedService } from '#test/harness/service'
import { openSocket } from '#test/harness/socket'
import { addMember, makePerson, makeWorld, type TestPerson, type World } from '#test/harness/world'

const service = useSharedService()
let world: World
let colleague: TestPerson
beforeAll(async () => {
  world = await makeWorld(service())
  colleague = await makePerson(service(), { name: 'Cleo Colleague' })
  await addMember(service(), world.workspace, colleague, 'member')
})

const names = async (person: TestPerson): Promise<string[]> => {
  const { body } = await person.call('GET', '/api/enrichment-jobs?limit=200')
  return body.items.map(({ job_id }: { job_id: string }) => job_id)
}
const statusOf = async (person: TestPerson, method: string, path: string, body?: unknown): Promise<number> =>
  (await person.call(method, path, body === undefined ? {} : { body })).status

describe('a job over a workflow that was never shared', () => {
  test('is visible only to the owner of the workflow, through every endpoint', async () => {
    const { member, owner } = world
    const workflow = await makeWorkflow(member)
    const hidden = await makeJob(member, { workflow_id: workflow, dataset_id: await makeDataset(member, numbered(2)) })
    expect(await names(member)).toContain(hidden)
    for (const person of [owner, colleague]) {
      expect(await names(person)).not.toContain(hidden)
      const random = toWire('job', newId())
      for (const [method, path] of [
        ['GET', ''],
        ['PUT', ''],
        ['GET', '/records'],
        ['POST', '/run-now'],
        ['POST', '/pause'],
        ['GET', '/members'],
        ['POST', '/members/invite'],
      ] as const) {
        const of = (id: string) =>
          person.call(method, `/api/enrichment-jobs/${id}${path}`, { headers: { 'x-request-id': 'same' } })
        const [seen, unknown] = [await of(hidden), await of(random)]
        expect([method, path, seen.status, seen.text]).toEqual([method, path, 404, unknown.text])
      }
      expect(await statusOf(person, 'POST', `/auth/batch-ticket/${hidden}`)).toBe(404)
    }
    // Members of a pinned job are kept, but get no access.
    await member.call('POST', `/api/enrichment-jobs/${hidden}/members/invite`, {
      body: { email: colleague.email, role: 'member' },
    })
    expect(await names(colleague)).not.toContain(hidden)
    expect(await statusOf(colleague, 'GET', `/api/enrichment-jobs/${hidden}`)).toBe(404)
    // Until the workflow is shared or deleted.
    await member.call('PATCH', `/api/workflows/${workflow}`, {
      body: { members: [{ user_id: colleague.id, role: 'viewer' }] },
    })
    expect(await names(colleague)).toContain(hidden)
    expect(await statusOf(colleague, 'POST', `/api/enrichment-jobs/${hidden}/run-now`)).toBe(403)
    await member.call('PATCH', `/api/workflows/${workflow}`, { body: { members: [] } })
    expect(await names(colleague)).not.toContain(hidden)
    await member.call('DELETE', `/api/workflows/${workflow}`)
    expect(await names(colleague)).toContain(hidden)
    const { body } = await colleague.call('GET', `/api/enrichment-jobs/${hidden}`)
    expect(body).toMatchObject({ status: 'paused', paused_reason: 'workflow_deleted' })
    const refused = await colleague.call('POST', `/api/enrichment-jobs/${hidden}/run-now`)
    expect([refused.status, refused.body.code]).toEqual([409, 'workflow_deleted'])
    expect(await statusOf(owner, 'GET', `/api/enrichment-jobs/${hidden}`)).toBe(404)
  })

  test('appears neither in the audit log nor in notifications of people who may not see it', async () => {
    const { member, owner } = world
    const invited = await makePerson(service())
    await addMember(service(), world.workspace, invited, 'member')
    const workflow = await makeWorkflow(member)
    const hidden = await makeJob(member, { name: 'Hidden plan', workflow_id: workflow })
    const members = `/api/enrichment-jobs/${hidden}/members`
    await member.call('POST', `${members}/invite`, { body: { email: invited.email, role: 'member' } })
    await member.call('POST', `${members}/invite`, { body: { email: freshEmail(), role: 'member' } })
    expect(await statusOf(member, 'PUT', `${members}/${invited.id}`, { role: 'viewer' })).toBe(200)
    expect(await statusOf(member, 'DELETE', `${members}/${invited.id}`)).toBe(204)
    expect(await statusOf(member, 'DELETE', `/api/enrichment-jobs/${hidden}`)).toBe(204)
    expect((await invited.call('GET', '/api/notifications')).body.items).toEqual([])
    const { body, text } = await owner.call('GET', '/api/audit-log?limit=50')
    const actions = body.items.map(({ action }: { action: string }) => action)
    expect(actions).toEqual(
      expect.arrayContaining(['member.added', 'job.role_changed', 'job.member_removed', 'job.deleted']),
    )
    expect(text).not.toContain(hidden)
    const mails = await service().sql<{ mail: string }>('select o::text as mail from mail_outbox o')
    expect(mails.map(({ mail }) => mail).join()).not.toContain('Hidden plan')
  })

  test('can be deleted by its owner and by the owner of the workspace, although they cannot see it', async () => {
    const { member, owner } = world
    const workflow = await makeWorkflow(owner, { members: [{ user_id: member.id, role: 'member' }] })
    const [first, second] = [
      await makeJob(member, { workflow_id: workflow }),
      await makeJob(member, { workflow_id: workflow }),
    ]
    await owner.call('PATCH', `/api/workflows/${workflow}`, { body: { members: [], owner_id: colleague.id } })
    await colleague.call('POST', `/api/workflows/${workflow}/transfer/accept`)
    expect(await statusOf(member, 'GET', `/api/enrichment-jobs/${first}`)).toBe(404)
    expect(await statusOf(owner, 'GET', `/api/enrichment-jobs/${second}`)).toBe(404)
    expect(await statusOf(member, 'DELETE', `/api/enrichment-jobs/${first}`)).toBe(204)
    expect(await statusOf(owner, 'DELETE', `/api/enrichment-jobs/${second}`)).toBe(204)
    expect(await statusOf(owner, 'DELETE', `/api/enrichment-jobs/${second}`)).toBe(404)
  })

  test('cannot be created by a colleague who may not run the workflow', async () => {
    const workflow = await makeWorkflow(world.owner)
    expect(await statusOf(colleague, 'POST', '/api/enrichment-jobs', { name: 'Mine', workflow_id: workflow })).toBe(403)
  })
})

describe('members of a standalone job', () => {
  test('join by invitation, have the rights of their role, and can leave; other colleagues cannot see the job', async () => {
    const { member, guest } = world
    const job = await makeJob(member, { definition: echoWorkflow })
    expect(await statusOf(colleague, 'GET', `/api/enrichment-jobs/${job}`)).toBe(404)
    const added = await member.call('POST', `/api/enrichment-jobs/${job}/members/invite`, {
      body: { email: guest.email, role: 'viewer' },
    })
    expect([added.status, added.body.state]).toEqual([201, 'added'])
    expect(await names(guest)).toEqual([job])
    expect(await statusOf(guest, 'POST', `/api/enrichment-jobs/${job}/pause`)).toBe(403)
    const again = await member.call('POST', `/api/enrichment-jobs/${job}/members/invite`, {
      body: { email: guest.email },
    })
    expect([again.status, again.body.code]).toEqual([409, 'already_exists'])
    const outside = await member.call('POST', `/api/enrichment-jobs/${job}/members/invite`, {
      body: { email: freshEmail() },
    })
    expect([outside.status, outside.body.state]).toEqual([201, 'invited'])
    expect(await statusOf(guest, 'DELETE', `/api/enrichment-jobs/${job}/members/${member.id}`)).toBe(403)
    expect(await statusOf(guest, 'DELETE', `/api/enrichment-jobs/${job}/members/${guest.id}`)).toBe(204)
    expect(await names(guest)).toEqual([])
  })

  test('always keep at least one owner, even if several leave at once', async () => {
    const { member, viewer } = world
    const job = await makeJob(member, { definition: echoWorkflow })
    for (const { email } of [viewer, colleague])
      await member.call('POST', `/api/enrichment-jobs/${job}/members/invite`, { body: { email, role: 'owner' } })
    const answers = await Promise.all(
      [member, viewer, colleague].flatMap((person) => [
        statusOf(person, 'DELETE', `/api/enrichment-jobs/${job}/members/${person.id}`),
        statusOf(person, 'PUT', `/api/enrichment-jobs/${job}/members/${person.id}`, { role: 'viewer' }),
      ]),
    )
    expect(answers).toContain(409)
    const owners = await service().sql<{ user_id: string; owner_id: string }>(
      `select m.user_id, j.owner_id from job_members m join enrichment_jobs j using (job_id) where m.role = 'owner' and j.name = 'Job'
         and j.job_id = (select max(job_id::text)::uuid from enrichment_jobs)`,
    )
    expect(owners).toHaveLength(1)
    expect(owners[0]!.owner_id).toBe(owners[0]!.user_id)
  })

  test('pass the job to the owner of the workspace when they leave the workspace', async () => {
    const leaver = await makePerson(service())
    await addMember(service(), world.workspace, leaver, 'member')
    const job = await makeJob(leaver, { definition: echoWorkflow })
    await world.owner.call('DELETE', `/api/workspaces/${world.workspace.id}/members/${leaver.id}`)
    const { body } = await world.owner.call('GET', `/api/enrichment-jobs/${job}`)
    expect(body.members).toEqual([{ user_id: world.owner.id, role: 'owner' }])
    expect(body.owner_id).toBe(world.owner.id)
  })
})

describe('the definition of a job', () => {
  const reading = (dataset_id: unknown) => ({
    nodes: [{ id: 'read', type: 'dataset.read', args: { dataset_id } }],
    edges: [],
    output: { $ref: 'nodes.read.output' },
  })
  const writing = (target: object) => ({
    nodes: [{ id: 'write', type: 'dataset.write', args: { ...target, records: [] } }],
    edges: [],
    output: null,
  })

  test('cannot refer to a dataset if a guest saves it, or write a dataset if a workspace viewer saves it', async () => {
    const { member, guest, viewer } = world
    const salaries = await makeDataset(member, [{ salary: 1 }], 'Salaries')
    const job = await makeJob(member, { definition: echoWorkflow })
    for (const { email } of [guest, viewer])
      await member.call('POST', `/api/enrichment-jobs/${job}/members/invite`, { body: { email, role: 'member' } })
    const put = async (person: TestPerson, definition: object) => {
      const { status, text } = await person.call('PUT', `/api/enrichment-jobs/${job}`, {
        body: { definition },
        headers: { 'x-request-id': 'same' },
      })
      return [status, text]
    }
    const unknown = await put(guest, reading(toWire('ds', newId())))
    expect(unknown[0]).toBe(422)
    expect(await put(guest, reading(salaries))).toEqual(unknown)
    const agent = (tools: unknown) => ({
      nodes: [{ id: 'agent', type: 'agent.run', args: { goal: 'Look', tools } }],
      edges: [],
      output: null,
    })
    const inMap = {
      nodes: [{ id: 'all', type: 'map', args: { items: [1], body: reading({ $cel: `"${salaries}"` }) } }],
      edges: [],
      output: null,
    }
    for (const definition of [
      reading({ $cel: `"${salaries}"` }),
      inMap,
      writing({ name: 'Salaries' }),
      agent(['dataset.read']),
      agent({ $ref: 'input.tools' }),
    ])
      expect((await put(guest, definition))[0]).toBe(403)
    for (const definition of [
      writing({ name: 'Salaries' }),
      writing({ dataset_id: salaries }),
      agent(['dataset.write']),
    ])
      expect((await put(viewer, definition))[0]).toBe(403)
    // A definition may read what a viewer may read. What a member wrote can be sent back unchanged.
    expect((await put(viewer, reading(salaries)))[0]).toBe(200)
    expect((await put(guest, reading(salaries)))[0]).toBe(200)
    expect((await put(member, writing({ name: 'Salaries' })))[0]).toBe(200)
    expect((await put(guest, echoWorkflow))[0]).toBe(200)
  })
})

describe('ids of another workspace', () => {
  test('are refused when a job is saved, with the same response as random ids, and change nothing', async () => {
    const { member, stranger } = world
    const theirs = {
      dataset: await makeDataset(stranger, numbered(1)),
      workflow: await makeWorkflow(stranger),
    }
    const job = await makeJob(member, { definition: echoWorkflow })
    const put = (body: object) =>
      member.call('PUT', `/api/enrichment-jobs/${job}`, { body, headers: { 'x-request-id': 'same' } })
    for (const [field, foreign, random] of [
      ['dataset_id', theirs.dataset, toWire('ds', newId())],
      ['workflow_id', theirs.workflow, toWire('wf', newId())],
    ] as const) {
      const [first, second] = [await put({ [field]: foreign }), await put({ [field]: random })]
      expect([first.status, first.body.code, first.text]).toEqual([422, 'unknown_reference', second.text])
    }
    const output = await put({ output: { dataset_id: theirs.dataset } })
    expect([output.status, output.body.errors[0].path]).toEqual([422, '/output/dataset_id'])
    expect((await member.call('GET', `/api/enrichment-jobs/${job}`)).body.dataset_id).toBeNull()
  })

  test('are refused again when the job runs, even if a row contains them', async () => {
    const { member, stranger } = world
    const foreign = await makeDataset(stranger, [{ secret: 'theirs' }])
    const mine = await makeDataset(member, numbered(1))
    const definition = {
      nodes: [{ id: 'read', type: 'dataset.read', args: { dataset_id: { $ref: 'input.wanted' } } }],
      edges: [],
      output: { $ref: 'nodes.read.output' },
    }
    const job = await makeJob(member, {
      definition,
      dataset_id: mine,
      mapping: { wanted: foreign },
      output: { new: 'Out' },
    })
    const ran = await runJob(member, job, {}, () => makeRetriesDue(service()))
    expect(ran.last_run.counts).toMatchObject({ succeeded: 0, failed: 1 })
    const { body } = await member.call('GET', `/api/enrichment-jobs/${job}/records?status=failed`)
    expect(body.items[0].error.code).toBe('unknown_reference')
    expect(JSON.stringify(body)).not.toContain('theirs')
  })
})

describe('the batch-progress socket', () => {
  test('shows the job, then its run without a gap, and closes when access is withdrawn', async () => {
    const { member } = world
    const job = await makeJob(member, { definition: echoWorkflow, dataset_id: await makeDataset(member, numbered(30)) })
    await member.call('POST', `/api/enrichment-jobs/${job}/members/invite`, {
      body: { email: colleague.email, role: 'viewer' },
    })
    const issued = await colleague.call('POST', `/auth/batch-ticket/${job}`)
    expect(issued.status).toBe(201)
    const socket = openSocket(issued.body.url, issued.body.ticket)
    const snapshot = await socket.frame(({ type }) => type === 'snapshot')
    expect(snapshot.data.job_id).toBe(job)
    await runJob(member, job)
    const finished = await socket.frame(({ type }) => type === 'job.finished')
    expect(finished.data).toMatchObject({ status: 'succeeded', total: 30, counts: { succeeded: 30 } })
    const types = socket.frames.map(({ type }) => type)
    expect(types.slice(0, 2)).toEqual(['snapshot', 'job.started'])
    expect(types).toContain('job.progress')
    const numbers = socket.frames.slice(1).map(({ seq }) => seq)
    expect(numbers).toEqual(numbers.map((_, at) => snapshot.seq + 1 + at))

    // The members of a job may watch its executions, regardless of who started the run.
    const { body: ledger } = await colleague.call('GET', `/api/enrichment-jobs/${job}/records?status=succeeded&limit=1`)
    const { body: watch } = await colleague.call('POST', `/auth/workflow-ticket/${ledger.items[0].execution_id}`)
    const execution = openSocket(watch.url, watch.ticket)
    expect((await execution.frame(({ type }) => type === 'snapshot')).data.status).toBe('succeeded')
    execution.socket.close()

    const used = openSocket(issued.body.url, issued.body.ticket)
    expect(await used.closed).toBe(4401)
    await member.call('DELETE', `/api/enrichment-jobs/${job}/members/${colleague.id}`)
    expect(await socket.closed).toBe(4403)
  })
})
