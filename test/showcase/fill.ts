import { type Client, makeClient } from '#sdk/client'
import { fillBilling } from './billing.ts'
import { fillKept } from './kept.ts'
import { showcase } from './workflows.ts'

// A workspace as it looks after a month of use, created through the API, for the screenshots.

export const PASSWORD = 'correct horse battery'

export type Shown = {
  owner: string
  operator: string
  /** The addresses of pages, by name. */
  at: Record<string, string>
}

async function enter(base: string, path: string, body: unknown): Promise<Client> {
  const answer = await fetch(base + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
  const cookie = answer.headers
    .getSetCookie()
    .map((text) => text.split(';')[0])
    .join('; ')
  const withCookie: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers)
    headers.set('cookie', cookie)
    return fetch(input, { ...init, headers })
  }
  return makeClient({ baseUrl: base, fetch: withCookie })
}

async function until<T>(look: () => Promise<T | undefined | false>, what: string): Promise<T> {
  const deadline = Date.now() + 60_000
  while (Date.now() < deadline) {
    const seen = await look()
    if (seen) return seen
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`never came: ${what}`)
}

const countries = ['DE', 'FR', 'GB', 'NL', 'US', 'IT', 'SE']
const kinds = ['Weavers', 'Textiles', 'Looms', 'Threads', 'Cloth', 'Dye Works', 'Tailors']
const places = ['Lyon', 'Leeds', 'Krefeld', 'Como', 'Ghent', 'Lowell', 'Borås', 'Paisley', 'Roubaix', 'Prato']
const leads = Array.from({ length: 240 }, (_, index) => ({
  company: `${places[index % places.length]} ${kinds[(index * 3) % kinds.length]}`,
  country: countries[(index * 5) % countries.length]!,
  employees: index % 60 === 7 ? 0 : Math.round(8 + ((index * 7919) % 400) * ((index % 7) + 1)),
  contact: `office@${places[index % places.length]!.toLowerCase().replace('å', 'a')}-${index}.example`,
}))

/**
 * `agents`: there is a language model, so agents vote. `claim`: the token with which the operator signs up. `leads`:
 * the number of leads.
 */
export async function fillShowcase(
  base: string,
  options: { agents?: boolean; claim?: string; leads?: number } = {},
): Promise<Shown> {
  const at: Record<string, string> = {}
  const owner = 'ada@jacquard.example'
  const ada = await enter(base, '/auth/sign-up', {
    email: owner,
    password: PASSWORD,
    name: 'Ada Lovelace',
    workspace_name: 'Jacquard Mills',
  })
  const me = await ada.getMe()
  const workspace_id = me.selected_workspace_id!
  const join = async (email: string, name: string, role: 'member' | 'viewer'): Promise<[Client, string]> => {
    const { link } = await ada.inviteToWorkspace({ workspace_id, email, role })
    const client = await enter(base, `/auth/invitations/${link!.split('/').at(-1)}/accept`, {
      name,
      password: PASSWORD,
    })
    return [client, (await client.getMe()).user.user_id]
  }
  const [[charles, charlesId], [mary, maryId]] = await Promise.all([
    join('charles@jacquard.example', 'Charles Babbage', 'member'),
    join('mary@jacquard.example', 'Mary Somerville', 'member'),
    join('luigi@jacquard.example', 'Luigi Menabrea', 'viewer'),
    ada.inviteToWorkspace({ workspace_id, email: 'sophia@jacquard.example', role: 'member' }),
  ])
  await charles.recordPresence({ status: 'online' })
  await mary.recordPresence({ status: 'busy' })

  const { company_id } = await ada.createCompany({ name: 'Jacquard Holding', metadata: { vat: 'FR 40 303 265 045' } })
  at.company = `/companies/${company_id}`
  at.workspace = `/workspaces/${workspace_id}`
  const finance = await ada.createTeam({ name: 'Finance', description: 'Pays what was bought.' })
  await ada.addTeamUsers({ team_id: finance.team_id, user_ids: [me.user.user_id, maryId] })
  await ada.createTeam({ name: 'Customer desk' })
  at.team = `/teams/${finance.team_id}`

  const members = [
    { user_id: charlesId, role: 'member' as const },
    { user_id: maryId, role: 'member' as const },
  ]
  const make = async (workflow: { name: string; description: string; definition: unknown }): Promise<string> =>
    (await ada.createWorkflow({ ...workflow, members } as never)).workflow_id
  const onboarding = await make(showcase.onboarding)
  const stock = await make(showcase.stock)
  const score = await make(showcase.score)
  const refund = await make(showcase.refund)
  const { definition, ...about } = showcase.invoice(finance.team_id, options.agents === true)
  const invoice = await make({ ...about, definition })
  at.workflow = `/workflows/${invoice}`
  await ada.putSchedule({ workflow_id: stock, cron: '0 3 * * 1-5', timezone: 'Europe/Paris', input: { shelf: 'A' } })
  const { token_id } = await ada.createWebhookToken({ workflow_id: invoice, name: 'Bookkeeping' })
  at.token = `/workflows/${invoice}/tokens/${token_id}`
  await ada.createEmbedToken({ workflow_id: refund, name: 'Shop', allowed_origins: ['https://shop.jacquard.example'] })

  // The executions of the job come first, so that executions started by people are at the top.
  const version = (await ada.listVersions({ workflow_id: score })).items[0]!
  const changed = structuredClone(version.definition) as typeof showcase.score.definition
  changed.nodes[1]!.args = {
    values: {
      company: { $ref: 'input.company' },
      points: { $ref: 'nodes.points.output.points' },
      grade: { $cel: "nodes.points.output.points >= 80 ? 'A' : nodes.points.output.points >= 50 ? 'B' : 'C'" },
    },
  } as never
  const stricter = await ada.createVersion({
    workflow_id: score,
    definition: changed as never,
    note: 'Stricter grades from October on',
    activate: true,
  })
  at.score = `/workflows/${score}`

  await Promise.all([
    fillData(ada, score, { old: version.version_id, current: stricter.version_id }, at, options.leads),
    fillConversations(base, ada, charles, refund, at),
    fillBilling(ada, at),
    fillKept(ada, at),
  ])

  const start = async (by: Client, workflow_id: string, input: Record<string, unknown>): Promise<string> =>
    (await by.runWorkflow({ workflow_id, input })).execution_id
  const state = async (execution_id: string, wanted: string): Promise<void> => {
    await until(async () => (await ada.getExecution({ execution_id })).status === wanted, `${execution_id} ${wanted}`)
  }
  const open = (execution_id: string) =>
    until(
      async () => (await ada.listExecutionApprovals({ execution_id })).items.find(({ status }) => status === 'open'),
      'a gate',
    )

  const suppliers: [string, string, number][] = [
    ['Lyon Threads', '2026-1187', 1440],
    ['Leeds Looms', 'LL-88213', 12_900],
    ['Krefeld Dye Works', '77120', 3260],
    ['Borås Bobbins', 'B-1044', 240],
    ['Ghent Shipping', 'GS/26/902', 610],
  ]
  for (const [supplier, number, amount] of suppliers.slice(3))
    await start(charles, invoice, { supplier, number, amount })
  const answered: string[] = []
  for (const [supplier, number, amount] of suppliers.slice(0, 3))
    answered.push(await start(charles, invoice, { supplier, number, amount }))
  const answer = async (execution_id: string, at: number): Promise<void> => {
    await state(execution_id, 'waiting')
    await charles.respondToExecution({
      execution_id,
      response: { centre: suppliers[at]![2] > 3000 ? 'Weaving' : 'Dyeing', remark: 'As ordered in September' },
    })
  }
  await Promise.all(answered.map(answer))
  const vote = async (by: Client, execution_id: string, decision: 'approve' | 'reject', comment: string) => {
    const { request_id, payload_sha256 } = await open(execution_id)
    await by.castVote({ request_id, payload_sha256, decision, comment })
  }
  await vote(mary, answered[0]!, 'approve', 'Matches the order.')
  await vote(ada, answered[0]!, 'approve', 'Fine.')
  await state(answered[0]!, 'succeeded')
  await vote(mary, answered[1]!, 'approve', 'Delivered on the 9th; the looms are set up.')
  const gate = await open(answered[1]!)
  await until(
    async () =>
      !options.agents ||
      (await ada.getApproval({ request_id: gate.request_id })).votes.some(({ voter }) => voter.kind === 'agent'),
    'the vote of the agent',
  )
  at.gate = `/approvals/${gate.request_id}`
  at.run = `/runs/${answered[0]}`
  at.run_gate = `/runs/${answered[1]}`

  at.run_question = `/runs/${await start(charles, refund, { customer: 'Mr Tennant', complaint: 'The cloth shrank.' })}`
  await start(mary, refund, { customer: 'Mme Récamier', complaint: 'Two rolls of the wrong blue.' })
  await state(await start(ada, refund, { customer: 'Ms Edgeworth', complaint: 'Came a month late.' }), 'waiting')
  at.run_timer = `/runs/${await start(ada, onboarding, { name: 'Sophia Kovalevskaya' })}`
  const failing = await start(ada, stock, { shelf: 'C' })
  at.run_failed = `/runs/${failing}`
  await state(failing, 'failed')
  const stopped = await start(charles, refund, { customer: 'Test', complaint: 'A test' })
  await state(stopped, 'waiting')
  await ada.cancelExecution({ execution_id: stopped })

  await ada.createApiKey({ name: 'Bookkeeping export', workspace_id })
  await ada.createNotification({
    title: 'Stock of undyed yarn is low',
    body: '41 kg left on shelf C.',
    link: '/datasets',
  })

  const operator = 'op@example.com'
  if (options.claim) {
    await enter(base, '/auth/sign-up', {
      email: operator,
      password: PASSWORD,
      name: 'Grace Hopper',
      claim_token: options.claim,
    })
  }
  return { owner, operator, at }
}

async function fillData(
  ada: Client,
  score: string,
  versions: { old: string; current: string },
  at: Record<string, string>,
  count = leads.length,
): Promise<void> {
  const { dataset_id } = await ada.createDataset({
    name: 'Leads of October',
    description: 'From the fair in Paris, with what the stand noted.',
    records: leads.slice(0, count),
  })
  await ada.createDataset({
    name: 'Suppliers',
    records: places.map((place, index) => ({
      name: `${place} ${kinds[index % 7]}`,
      iban: `DE00 ${index}`,
      active: true,
    })),
  })
  at.dataset = `/datasets/${dataset_id}`
  const connection = await ada.createConnection({ name: 'Mill warehouse', kind: 'duckdb', config: {} })
  const source = await ada.createSource({
    connection_id: connection.connection_id,
    name: 'Shelves',
    query: "select 'Shelf ' || chr(65 + i::int) as shelf, 400 + i * 13 as rolls from range(12) t(i)",
  })
  await ada.captureDataset({ source_id: source.source_id, name: 'Shelves, as counted' })
  at.connection = `/connections/${connection.connection_id}`
  const mapping = {
    company: { $ref: 'record.company' },
    country: { $ref: 'record.country' },
    employees: { $ref: 'record.employees' },
  }
  const job = await ada.createJob({
    name: 'Score the leads',
    workflow_id: score,
    dataset_id,
    mapping,
    output: { new: 'Scored leads' },
    schedule: { cron: '30 6 * * 1', timezone: 'Europe/Paris' },
  } as never)
  await ada.runJobNow({ job_id: job.job_id })
  at.job = `/jobs/${job.job_id}`
  await until(async () => {
    const { items } = await ada.listJobs({})
    return items.find(({ job_id }) => job_id === job.job_id)?.last_run?.finished_at
  }, 'the end of the job')
  await ada.createJob({ name: 'Check suppliers', workflow_id: score } as never)

  const suite = await ada.createSuite({
    workflow_id: score,
    name: 'Grades of known leads',
    dataset_id,
    mapping,
    checks: [{ kind: 'cel', expression: 'results.points >= 60' }],
  } as never)
  at.suite = `/suites/${suite.suite_id}`
  for (const version_id of [versions.old, versions.current]) {
    const { run_id } = await ada.runSuite({ suite_id: suite.suite_id, version_id })
    await until(async () => (await ada.getSuiteRun({ suite_id: suite.suite_id, run_id })).finished_at, 'the suite')
    at.report = `/suites/${suite.suite_id}/runs/${run_id}`
  }
}

async function fillConversations(
  base: string,
  ada: Client,
  charles: Client,
  refund: string,
  at: Record<string, string>,
): Promise<void> {
  const { template_id } = await ada.createTemplate({
    name: 'Shop assistant',
    greeting: 'Welcome to Jacquard Mills. How can we help?',
    instructions: 'Help customers with refunds. Be brief and kind.',
    workflow_ids: [refund],
    features: { speech: true, transcribe: true },
    allowed_origins: ['https://shop.jacquard.example'],
  })
  at.template = `/templates/${template_id}`
  await visitShop(base, template_id, (await ada.createTemplateToken({ template_id, name: 'Shop' })).token)
  const { thread_id } = await ada.createThread({ title: 'Refunds above 500 €' })
  at.thread = `/threads/${thread_id}`
  await ada.inviteThreadMember({ thread_id, email: 'charles@jacquard.example', role: 'member' })
  const said: [Client, string][] = [
    [ada, 'Mr Tennant asks for all of it back. The roll was from the batch that shrank.'],
    [charles, 'Then it is on us. The batch is in the dataset “Shelves”, shelf C.'],
    [ada, 'Good. I answer the run with a full refund.\nCan you look whether others got the same batch?'],
    [charles, 'Two more. I start a refund for each.'],
  ]
  for (const [by, text] of said) await by.postThreadMessage({ thread_id, body: { text } } as never)
  await ada.createThread({ title: 'New price list', template_id })
  await ada.putChannelConfig({
    channel: 'email',
    external_id: 'help@jacquard.example',
    template_id,
    name: 'Help desk',
    credentials: { inbound_secret: 'not a real secret' },
  } as never)
  const { config_id } = await ada.putChannelConfig({
    channel: 'telegram',
    external_id: 'jacquard_bot',
    template_id,
    credentials: { bot_token: '123456:not-a-real-token', secret_token: 'not_a_real_secret' },
  } as never)
  at.channel = `/channels/${config_id}`
}

/** Opens the widget of the shop as a visitor. */
async function visitShop(base: string, templateId: string, token: string): Promise<void> {
  const answer = await fetch(`${base}/api/embed/template/${templateId}/chat`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
      origin: 'https://shop.jacquard.example',
    },
    body: JSON.stringify({ message: 'My cloth came with a stain. Can I have my money back?' }),
  })
  if (!answer.ok) throw new Error(await answer.text())
}
