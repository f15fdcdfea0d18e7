import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { type Exit, ofOne, outputOf } from '../flow.ts'
import { pathOut } from '../out.ts'
import type { Step } from '../step.ts'

// Triggers of an n8n workflow. The definition starts with the item that the trigger returns; the trigger itself is set
// up separately.

function begins(step: Step, values: Json, kind: string, about: string, settings: JsonObject = {}): Exit[] {
  step.work.triggers.push({ kind, node: step.node.name, about, settings })
  step.add('set', { values })
  return [step.exit(ofOne(outputOf(step.id)))]
}

const input = (...fields: string[]): JsonObject =>
  Object.fromEntries(fields.map((field) => [field, { $ref: `input.${field}` }]))

export function webhook(step: Step): Exit[] {
  const { p } = step
  const method = String(p.httpMethod ?? 'GET')
  const respond = p.responseMode === 'responseNode' ? 'node' : p.responseMode === 'lastNode' ? 'result' : 'accepted'
  const auth = String(p.authentication ?? 'none')
  const settings = {
    input: 'request',
    methods: [method === 'HEAD' ? 'GET' : method],
    respond,
    auth: { kind: auth === 'basicAuth' ? 'basic' : 'url' },
  }
  step.remark(`make a webhook token with ${JSON.stringify(settings)}, and give its address to the caller`)
  return begins(
    step,
    {
      ...input('headers', 'query', 'body'),
      params: {},
      binary: { $cel: 'input?.files.orValue([]).transformMapEntry(n, x, {x.field: x.file})' },
    },
    'webhook',
    'A webhook token of the workflow',
    settings,
  )
}

/** Converts `{field: "hours", hoursInterval: 2, triggerAtMinute: 5}` to the five fields of cron. */
export function cronOf(rule: JsonObject): string | undefined {
  const number = (key: string, otherwise: number): number =>
    Number.isInteger(Number(rule[key] ?? otherwise)) ? Number(rule[key] ?? otherwise) : otherwise
  const minute = number('triggerAtMinute', 0)
  const hour = number('triggerAtHour', 0)
  const every = (size: number): string => (size <= 1 ? '*' : `*/${size}`)
  switch (String(rule.field ?? 'days')) {
    case 'seconds':
      return '* * * * *'
    case 'minutes':
      return `${every(number('minutesInterval', 5))} * * * *`
    case 'hours':
      return `${minute} ${every(number('hoursInterval', 1))} * * *`
    case 'days':
      return `${minute} ${hour} ${every(number('daysInterval', 1))} * *`
    case 'weeks': {
      const days = Array.isArray(rule.triggerAtDay) && rule.triggerAtDay.length > 0 ? rule.triggerAtDay : [0]
      return `${minute} ${hour} * * ${days.map(Number).join(',')}`
    }
    case 'months':
      return `${minute} ${hour} ${number('triggerAtDayOfMonth', 1)} ${every(number('monthsInterval', 1))} *`
    case 'cronExpression': {
      const parts = String(rule.expression ?? '')
        .trim()
        .split(/\s+/)
      const five = parts.length === 6 ? parts.slice(1) : parts
      return five.length === 5 && five.every((part) => /^[\w*/,?#-]+$/.test(part))
        ? five.join(' ').replaceAll('?', '*')
        : undefined
    }
    default:
      return undefined
  }
}

export function schedule(step: Step): Exit[] {
  const { p } = step
  const rules = isObject(p.rule) ? p.rule.interval : isObject(p.triggerTimes) ? p.triggerTimes.item : [{}]
  const list: JsonObject[] = Array.isArray(rules) ? (rules as Json[]).filter(isObject) : [{}]
  const crons = list.map((rule) => (rule.mode === undefined ? cronOf(rule) : oldCron(rule)))
  const known = crons.filter((cron) => cron !== undefined)
  if (known.length < crons.length) step.byHand('its schedule is not understood')
  step.remark(`make a schedule: ${known.join(' and ') || 'see n8n'}`)
  const values = { timestamp: { $cel: 'string(now())' } }
  return begins(step, values, 'schedule', 'A schedule of the workflow', { cron: known })
}

function oldCron(rule: JsonObject): string | undefined {
  const at = `${Number(rule.minute ?? 0)} ${Number(rule.hour ?? 14)}`
  switch (String(rule.mode)) {
    case 'everyMinute':
      return '* * * * *'
    case 'everyHour':
      return `${Number(rule.minute ?? 0)} * * * *`
    case 'everyDay':
      return `${at} * * *`
    case 'everyWeek':
      return `${at} * * ${Number(rule.weekday ?? 1)}`
    case 'everyMonth':
      return `${at} ${Number(rule.dayOfMonth ?? 1)} * *`
    case 'everyX':
      return rule.unit === 'minutes' ? `*/${Number(rule.value ?? 2)} * * * *` : `0 */${Number(rule.value ?? 2)} * * *`
    case 'custom':
      return cronOf({ field: 'cronExpression', expression: rule.cronExpression ?? '' })
    default:
      return undefined
  }
}

export function manual(step: Step): Exit[] {
  return begins(step, { $ref: 'input' }, 'manual', 'Run it by hand, with any input')
}

/** Converts the trigger for a call by another workflow: its input is the item. */
export function called(step: Step): Exit[] {
  return begins(step, { $ref: 'input' }, 'subworkflow', 'Another workflow runs it with a subworkflow node')
}

export function form(step: Step): Exit[] {
  const { p } = step
  const fields = isObject(p.formFields) ? p.formFields.values : []
  const names = (Array.isArray(fields) ? fields : [])
    .filter(isObject)
    .map((field) => String(field.fieldLabel ?? field.fieldName ?? ''))
    .filter((name) => name !== '')
  const files = new Set(
    (Array.isArray(fields) ? fields : [])
      .filter(isObject)
      .filter(({ fieldType }) => fieldType === 'file')
      .map((field) => String(field.fieldLabel ?? '')),
  )
  const texts = names.filter((name) => !files.has(name))
  step.remark(
    `make a webhook token with {"input": "request"}, and a page with a form that is sent to its address (${names.slice(0, 20).join(', ')})`,
  )
  const values: JsonObject = Object.fromEntries(
    texts.map((name) => [name, { $ref: `input.body[${JSON.stringify(name)}]` }]),
  )
  values.submittedAt = { $ref: 'input.received_at' }
  if (files.size > 0) values.binary = { $cel: 'input?.files.orValue([]).transformMapEntry(n, x, {x.field: x.file})' }
  return begins(step, values, 'form', 'A form whose fields arrive at a webhook token', { fields: names })
}

export function chat(step: Step): Exit[] {
  step.remark('connect the workflow to a widget or a channel; its input has the text of the message')
  const values = {
    chatInput: { $cel: 'input?.message.orElse(input?.text.orElse(input?.chatInput.orElse("")))' },
    sessionId: { $cel: 'input?.thread_id.orElse(input?.sessionId.orElse("chat"))' },
    action: 'sendMessage',
  }
  return begins(step, values, 'chat', 'A widget or a channel whose messages run the workflow')
}

/** Converts the trigger that runs when another workflow fails. */
export function failed(step: Step): Exit[] {
  step.remark('set error_workflow_id to this workflow in the settings of the workflows that it handles')
  const values = {
    execution: {
      id: { $cel: 'input?.execution_id.orValue(null)' },
      url: null,
      error: { $cel: 'input?.error.orValue(null)' },
      lastNodeExecuted: { $cel: 'input?.error.node_id.orValue(null)' },
    },
    workflow: {
      id: { $cel: 'input?.workflow_id.orValue(null)' },
      name: { $cel: 'input?.workflow_name.orValue(null)' },
    },
  }
  return begins(step, values, 'error', 'The error workflow of other workflows')
}

/** Converts a tool server: the workflow becomes one tool, and its argument `tool` selects the n8n tool. */
export function toolServer(step: Step): Exit[] {
  const tools = step.work.attached(step.node.name).filter(({ kind }) => kind === 'ai_tool')
  if (tools.length > 50) step.byHand('it offers more than 50 tools: make several workflows')
  step.remark(
    'switch on mcp_tool in the settings of the workflow: assistants find it at /mcp, with the arguments tool and arguments',
  )
  const names = tools.slice(0, 50).map(({ node }) => nameOf(node.name))
  const about = tools
    .slice(0, 50)
    .map(({ node }, at) =>
      `${names[at]}: ${String(node.parameters.toolDescription ?? node.parameters.description ?? node.name).replace(/^=/, '')}`.slice(
        0,
        300,
      ),
    )
    .join('\n')
    .slice(0, 4_000)
  step.work.triggers.push({
    kind: 'mcp',
    node: step.node.name,
    about: 'A tool for assistants (MCP)',
    settings: { tools: names, about },
  })
  if (names.length === 0) {
    step.add('set', { values: { $ref: 'input' } })
    return [step.exit(ofOne(outputOf(step.id)))]
  }
  const cases = names.map((name, at) => ({
    port: `case_${at + 1}`,
    when: { $cel: `input?.tool.orValue("") == ${JSON.stringify(name)}` },
  }))
  step.add('branch', { cases })
  return cases.map(({ port }) => {
    const exit = step.exit(ofOne({ ...pathOut(['input', 'arguments']) }), { port })
    return { ...exit, chosen: new Map([...exit.chosen, [step.id, port]]) }
  })
}

const nameOf = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(0, 60) || 'tool'

/** Converts a request of Jotform as n8n does: the answers by their questions. */
const JOTFORM = `const raw = typeof input.body?.rawRequest === 'string' ? JSON.parse(input.body.rawRequest) : (input.body?.rawRequest ?? {})
const answers = {}
for (const [key, value] of Object.entries(raw)) {
  const id = /^q(\\d+)_/.exec(key)?.[1]
  if (id !== undefined) answers[input.questions?.content?.[id]?.text ?? key] = value
}
`

export function jotForm(step: Step): Exit[] {
  const { p } = step
  const form = String(p.form ?? '').replace(/^=/, '')
  const [kind, name] = Object.entries(step.node.credentials)[0] ?? ['jotFormApi', 'Jotform']
  const settings = { input: 'request' }
  step.remark(`make a webhook token with ${JSON.stringify(settings)}, and enter its address as a webhook of the form`)
  step.work.triggers.push({ kind: 'webhook', node: step.node.name, about: 'A form of Jotform', settings })
  const questions = step.add(
    'http.request',
    {
      method: 'GET',
      url: /^\w+$/.test(form) ? `https://api.jotform.com/form/${form}/questions` : step.unfilled('the form'),
    },
    { credential: { name, kind } },
  )
  const shown = p.onlyAnswers === false ? '{ ...input.body, rawRequest: answers }' : 'answers'
  const id = step.add('code', {
    input: { body: { $ref: 'input.body' }, questions: { $ref: `nodes.${questions}.output.body` } },
    source: `${JOTFORM}return ${p.resolveData === false ? 'input.body' : shown}`,
  })
  return [step.exit(ofOne(outputOf(id)))]
}

/** Converts the trigger for WhatsApp messages: each change is an item. */
export function whatsApp(step: Step): Exit[] {
  const settings = { input: 'request', challenge: 'meta' }
  step.remark(`make a webhook token with ${JSON.stringify(settings)}, and enter its address at Meta`)
  step.work.triggers.push({ kind: 'webhook', node: step.node.name, about: 'Messages of WhatsApp', settings })
  const values = {
    items: {
      $cel: 'input?.body.entry.orValue([]).map(x, x?.changes.orValue([])).flatten().map(x, x.value)',
    },
  }
  step.add('set', { values })
  return [step.exit({ list: pathOut(['nodes', step.id, 'output', 'items'], 'list') })]
}

/** Converts a vendor's trigger whose request body is the item. */
export function hook(step: Step): Exit[] {
  const vendor = (step.node.type.split('.').at(-1) ?? '').replace(/Trigger$/, '')
  const settings = { input: 'request' }
  step.remark(`make a webhook token with ${JSON.stringify(settings)}, and enter its address at ${vendor}`)
  return begins(step, { $ref: 'input.body' }, 'webhook', `Events of ${vendor}`, settings)
}

/** Converts a trigger on a vendor's event: the event is the input. */
export function event(step: Step, service: string, isThere: boolean): Exit[] {
  const about = `An event of ${service}`
  if (isThere) step.remark(`set up the trigger of ${service}; the event becomes the input`)
  else step.byHand(`events of ${service} do not start workflows here yet: start it with a webhook token or a schedule`)
  return begins(step, { $ref: 'input' }, 'service', about, { service })
}

export function interval(step: Step): Exit[] {
  const { p } = step
  const every = Number(p.interval ?? 1) || 1
  const cron = p.unit === 'hours' ? `0 */${every} * * *` : p.unit === 'minutes' ? `*/${every} * * * *` : '* * * * *'
  step.remark(`make a schedule: ${cron}`)
  return begins(step, {}, 'schedule', 'A schedule of the workflow', { cron: [cron] })
}
