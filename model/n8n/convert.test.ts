import { describe, expect, test } from 'vitest'
import { serviceCatalogue } from '#providers/services/catalogue'
import { importerKinds } from '#test/n8n/kinds'
import type { Definition, Json, JsonObject, Node } from '../definition.ts'
import { validateDefinition } from '../graph.ts'
import { allNodes } from '../graph-ids.ts'
import { convertN8n } from './convert.ts'
import { withCredentials } from './document.ts'
import { readN8n, readWorkflow } from './read.ts'
import { type Catalogue, type Converted, ImportFailure } from './types.ts'

const kinds = importerKinds()
const services: Catalogue = new Map(
  [...serviceCatalogue()].map(([name, { actions }]) => [
    name,
    new Map([...actions].map(([key, { args_schema }]) => [key, args_schema])),
  ]),
)

type Given = { name: string; type: string; parameters?: JsonObject; typeVersion?: number } & JsonObject
const base = (type: string): string => `n8n-nodes-base.${type}`
const lang = (type: string): string => `@n8n/n8n-nodes-langchain.${type}`

/** Converts a chain of nodes after a manual start; `edges` replaces the chain with edges as [from, port, to]. */
function convert(
  nodes: Given[],
  edges: [string, number, string, string?][] = [],
  start = base('manualTrigger'),
): Converted {
  const all: Given[] = [{ name: 'Start', type: start }, ...nodes]
  const connections: Record<string, Record<string, JsonObject[][]>> = {}
  const connect = (from: string, port: number, to: string, kind = 'main'): void => {
    const kinds = connections[from] ?? {}
    const ports = kinds[kind] ?? []
    connections[from] = { ...kinds, [kind]: ports }
    while (ports.length <= port) ports.push([])
    ports[port]!.push({ node: to, type: kind, index: 0 })
  }
  if (edges.length === 0) for (const [at, { name }] of nodes.entries()) connect(all[at]!.name, 0, name)
  for (const [from, port, to, kind] of edges) connect(from, port, to, kind)
  const converted = convertN8n(readWorkflow({ name: 'Test', nodes: all, connections } as unknown as Json), {
    kinds,
    services,
  })
  expect(validateDefinition(converted.definition, kinds)).toMatchObject({ ok: true })
  return converted
}

const nodesOf = ({ definition }: Converted): Node[] => [...allNodes(definition)]
const find = (converted: Converted, type: string): Node => nodesOf(converted).find((node) => node.type === type)!
const outcome = ({ report }: Converted, name: string): string =>
  report.find(({ node }) => node === name)?.outcome ?? 'absent'
const why = ({ report }: Converted, name: string): string => report.find(({ node }) => node === name)?.why ?? ''

const set = (name: string, value: string): Given => ({
  name,
  type: base('set'),
  typeVersion: 3.4,
  parameters: { assignments: { assignments: [{ name: 'a', value, type: 'string' }] } },
})

describe('each kind of node', () => {
  const kindsOf: [type: string, parameters: JsonObject, node: string, args: JsonObject, version?: number][] = [
    [
      'set',
      { assignments: { assignments: [{ name: 'a.b', value: 'x', type: 'string' }] } },
      'set',
      { values: { a: { b: 'x' } } },
      3.4,
    ],
    [
      'set',
      { mode: 'raw', jsonOutput: '={"n": {{ $json.n }}, "t": "x {{ $json.t }}"}' },
      'set',
      {
        values: { n: { $ref: 'nodes.start.output.n' }, t: { $cel: '"x " + string(nodes.start.output?.t.orElse(""))' } },
      },
      3.4,
    ],
    [
      'if',
      {
        conditions: {
          conditions: [{ leftValue: '={{ $json.n }}', rightValue: 3, operator: { type: 'number', operation: 'gt' } }],
        },
      },
      'branch',
      { cases: [{ port: 'case_1', when: { $cel: '(nodes.start.output?.n.orValue(null) > 3)' } }] },
      2,
    ],
    [
      'if',
      { conditions: { string: [{ value1: '={{ $json.t }}', operation: 'contains', value2: 'x' }] } },
      'branch',
      { cases: [{ port: 'case_1', when: { $cel: '(string(nodes.start.output?.t.orElse("")).contains("x"))' } }] },
      1,
    ],
    [
      'switch',
      {
        rules: {
          values: [
            {
              conditions: {
                conditions: [
                  { leftValue: '={{ $json.k }}', rightValue: 'a', operator: { type: 'string', operation: 'equals' } },
                ],
              },
            },
          ],
        },
      },
      'branch',
      { cases: [{ port: 'case_1', when: { $cel: '(string(nodes.start.output?.k.orElse("")) == "a")' } }] },
      3,
    ],
    ['wait', { amount: 2, unit: 'minutes' }, 'wait', { for_s: 120 }, 1.1],
    ['stopAndError', { errorMessage: 'No' }, 'fail', { message: 'No' }],
    ['noOp', {}, 'set', { values: { item: { $ref: 'nodes.start.output' } } }],
    [
      'httpRequest',
      {
        method: 'POST',
        url: 'https://api.example.com/x',
        sendBody: true,
        bodyParameters: { parameters: [{ name: 'a', value: '={{ $json.a }}' }] },
      },
      'http.request',
      { method: 'POST', url: 'https://api.example.com/x', json: { a: { $ref: 'nodes.start.output.a' } } },
      4.2,
    ],
    [
      'httpRequest',
      {
        url: '=https://api.example.com/{{ $json.id }}',
        sendQuery: true,
        queryParameters: { parameters: [{ name: 'q', value: '1' }] },
      },
      'http.request',
      {
        method: 'GET',
        url: { $cel: '"https://api.example.com/" + string(nodes.start.output?.id.orElse(""))' },
        query: { q: '1' },
      },
      4.2,
    ],
    [
      'httpRequest',
      { url: 'https://api.example.com/f', options: { response: { response: { responseFormat: 'file' } } } },
      'http.request',
      { method: 'GET', url: 'https://api.example.com/f', response: 'file' },
      4.2,
    ],
    [
      'respondToWebhook',
      { respondWith: 'json', responseBody: '={{ {ok: true} }}', options: { responseCode: 201 } },
      'http.respond',
      { status: 201, body: { ok: { $cel: 'true' } } },
    ],
    [
      'aggregate',
      { aggregate: 'aggregateAllItemData' },
      'set',
      { values: { data: { $cel: '[nodes.start.output].filter(x, x != null)' } } },
    ],
    [
      'dateTime',
      { operation: 'getCurrentDate', outputFieldName: 'now' },
      'set',
      { values: { now: { $cel: 'string(now())' } } },
      2,
    ],
    [
      'emailSend',
      { toEmail: 'a@example.com, b@example.com', subject: 'Hi', emailFormat: 'text', text: 'x' },
      'mail.send',
      { to: ['a@example.com', 'b@example.com'], subject: 'Hi', text: 'x' },
    ],
    [
      'slack',
      { select: 'channel', channelId: { __rl: true, value: 'C1', mode: 'id' }, text: '=Hi {{ $json.n }}' },
      'service.call',
      {
        service: 'slack',
        action: 'send_message',
        args: { channel: 'C1', text: { $cel: '"Hi " + string(nodes.start.output?.n.orElse(""))' } },
      },
      2.2,
    ],
    [
      'telegram',
      { chatId: '={{ $json.chat }}', text: 'x' },
      'service.call',
      {
        service: 'telegram',
        action: 'send_message',
        args: { chat_id: { $ref: 'nodes.start.output.chat' }, text: 'x' },
      },
    ],
    [
      'gmail',
      { sendTo: 'a@example.com', subject: 's', emailType: 'text', message: 'm' },
      'service.call',
      { service: 'gmail', action: 'send_message', args: { to: ['a@example.com'], subject: 's', text: 'm' } },
      2.1,
    ],
    [
      'googleSheets',
      {
        operation: 'append',
        documentId: { __rl: true, value: 'doc', mode: 'id' },
        sheetName: { __rl: true, value: 'gid=0', mode: 'list', cachedResultName: 'Orders' },
        columns: { mappingMode: 'defineBelow', value: { B: 'b' }, schema: [{ id: 'A' }, { id: 'B' }] },
      },
      'service.call',
      {
        service: 'google_sheets',
        action: 'append_rows',
        args: { spreadsheet_id: 'doc', range: 'Orders', rows: [['', 'b']] },
      },
      4.5,
    ],
    [
      'rssFeedRead',
      { url: 'https://example.com/feed' },
      'service.call',
      { service: 'rss', action: 'read_feed', args: { url: 'https://example.com/feed' } },
    ],
  ]

  test.each(kindsOf)('%s %j', (type, parameters, node, args, typeVersion = 1) => {
    const converted = convert([{ name: 'It', type: base(type), parameters, typeVersion }])
    expect(outcome(converted, 'It')).not.toBe('by_hand')
    expect(nodesOf(converted).find(({ id, type: of }) => id === 'it' && of === node)?.args).toEqual(args)
  })

  const byCode: [type: string, parameters: JsonObject, input: Json, output: Json][] = [
    [
      'code',
      { jsCode: 'return $input.all().map((i) => ({ json: { n: i.json.n + 1 } }))' },
      { items: [{ n: 1 }] },
      [{ n: 2 }],
    ],
    [
      'code',
      { mode: 'runOnceForEachItem', jsCode: 'return { n: $json.n * 2 }' },
      { items: [{ n: 1 }, { n: 2 }] },
      [{ n: 2 }, { n: 4 }],
    ],
    ['function', { functionCode: 'items[0].json.x = 1\nreturn items' }, { items: [{ a: 1 }] }, [{ a: 1, x: 1 }]],
    ['splitOut', { fieldToSplitOut: 'rows' }, { items: [{ rows: [{ a: 1 }, { a: 2 }] }] }, [{ a: 1 }, { a: 2 }]],
    [
      'splitOut',
      { fieldToSplitOut: 'tags', include: 'allOtherFields' },
      { items: [{ id: 7, tags: ['x'] }] },
      [{ id: 7, tags: 'x' }],
    ],
    [
      'sort',
      { sortFieldsUi: { sortField: [{ fieldName: 'n', order: 'descending' }] } },
      { items: [{ n: 1 }, { n: 3 }] },
      [{ n: 3 }, { n: 1 }],
    ],
    [
      'removeDuplicates',
      { compare: 'selectedFields', fieldsToCompare: 'id' },
      { items: [{ id: 1 }, { id: 1, x: 2 }] },
      [{ id: 1 }],
    ],
    [
      'summarize',
      { fieldsToSummarize: { values: [{ aggregation: 'sum', field: 'n' }] }, fieldsToSplitBy: 'k' },
      {
        items: [
          { k: 'a', n: 1 },
          { k: 'a', n: 2 },
        ],
      },
      [{ k: 'a', sum_n: 3 }],
    ],
    ['renameKeys', { keys: { key: [{ currentKey: 'a', newKey: 'b' }] } }, { items: [{ a: 1 }] }, [{ b: 1 }]],
  ]

  test.each(byCode)('%s %j gives the same output as n8n', async (type, parameters, input, output) => {
    const converted = convert([{ name: 'It', type: base(type), parameters }])
    expect(outcome(converted, 'It')).toBe('converted')
    const source = String(find(converted, 'code').args?.source)
    const run = new Function('input', `return (async () => {${source}\n})()`) as (input: Json) => Promise<Json>
    expect(await run(input)).toEqual(output)
  })

  test('merges by position and by field', async () => {
    const merged = async (parameters: JsonObject, lists: Json): Promise<Json> => {
      const converted = convert(
        [{ name: 'M', type: base('merge'), parameters: { mode: 'combine', ...parameters }, typeVersion: 3 }],
        [['Start', 0, 'M']],
      )
      const source = String(find(converted, 'code').args?.source)
      return (new Function('input', source) as (input: Json) => Json)({ lists })
    }
    expect(await merged({ combineBy: 'combineByPosition' }, [[{ a: 1 }, { a: 2 }], [{ b: 1 }]])).toEqual([
      { a: 1, b: 1 },
    ])
    const byField = { combineBy: 'combineByFields', fieldsToMatchString: 'id' }
    expect(await merged(byField, [[{ id: 1 }, { id: 2 }], [{ id: 2, x: 1 }]])).toEqual([{ id: 2, x: 1 }])
  })

  test('code that reads another node gets its items, and code that needs external access is to be done by hand', () => {
    const reads = convert([
      set('First', 'x'),
      { name: 'It', type: base('code'), parameters: { jsCode: "return $('First').all()" } },
    ])
    expect(find(reads, 'code').args?.input).toMatchObject({
      nodes: { First: { $cel: expect.stringContaining('nodes.first.output') } },
    })
    for (const [jsCode, told] of [
      ["const fs = require('fs')", 'packages'],
      ["await fetch('https://x')", 'requests'],
      ['return $(name).all()', '"name", which is not available'],
      ['return moment()', '"moment", which is not available'],
      ['return [', 'not valid JavaScript'],
    ] as const) {
      const converted = convert([{ name: 'It', type: base('code'), parameters: { jsCode } }])
      expect([outcome(converted, 'It'), why(converted, 'It')]).toEqual(['by_hand', expect.stringContaining(told)])
    }
  })

  test('triggers report what has to be set up', () => {
    const triggers: [string, JsonObject, string, JsonObject][] = [
      [
        base('webhook'),
        { httpMethod: 'POST', responseMode: 'responseNode' },
        'webhook',
        { methods: ['POST'], respond: 'node' },
      ],
      [
        base('scheduleTrigger'),
        { rule: { interval: [{ field: 'hours', hoursInterval: 2 }] } },
        'schedule',
        { cron: ['0 */2 * * *'] },
      ],
      [
        base('scheduleTrigger'),
        { rule: { interval: [{ field: 'cronExpression', expression: '0 9 * * 1' }] } },
        'schedule',
        { cron: ['0 9 * * 1'] },
      ],
      [
        base('formTrigger'),
        { formFields: { values: [{ fieldLabel: 'Your name' }] } },
        'form',
        { fields: ['Your name'] },
      ],
      [lang('chatTrigger'), {}, 'chat', {}],
      [base('executeWorkflowTrigger'), {}, 'subworkflow', {}],
      [base('errorTrigger'), {}, 'error', {}],
    ]
    for (const [type, parameters, kind, settings] of triggers) {
      const workflow = {
        nodes: [{ name: 'T', type, parameters }, set('Next', 'x')],
        connections: { T: { main: [[{ node: 'Next' }]] } },
      }
      const made = convertN8n(readWorkflow(workflow as unknown as Json), { kinds, services })
      expect(made.triggers).toEqual([expect.objectContaining({ kind, settings: expect.objectContaining(settings) })])
    }
  })

  test('converts an agent with a model, memory and a schema', () => {
    const converted = convert(
      [
        {
          name: 'Agent',
          type: lang('agent'),
          parameters: {
            promptType: 'define',
            text: '={{ $json.q }}',
            options: { systemMessage: 'Be kind' },
            hasOutputParser: true,
          },
        },
        {
          name: 'Model',
          type: lang('lmChatOpenAi'),
          parameters: { model: 'gpt-4o', options: { temperature: 0.2 } },
          credentials: { openAiApi: { id: '1', name: 'My OpenAI' } },
        },
        { name: 'Memory', type: lang('memoryBufferWindow'), parameters: {} },
        { name: 'Parser', type: lang('outputParserStructured'), parameters: { jsonSchemaExample: '{"city": "x"}' } },
        { name: 'Sheets', type: base('googleSheetsTool'), parameters: {} },
        set('After', '={{ $json.output.city }}'),
      ],
      [
        ['Start', 0, 'Agent'],
        ['Agent', 0, 'After'],
        ['Model', 0, 'Agent', 'ai_languageModel'],
        ['Memory', 0, 'Agent', 'ai_memory'],
        ['Parser', 0, 'Agent', 'ai_outputParser'],
        ['Sheets', 0, 'Agent', 'ai_tool'],
      ],
    )
    expect(find(converted, 'agent.run').args).toMatchObject({
      instructions: 'Be kind\n\nTools:\nSheets: google_sheets.read_rows',
      tools: [{ service: 'google_sheets', action: 'read_rows' }],
      temperature: 0.2,
    })
    expect(find(converted, 'llm.extract').args).toMatchObject({
      schema: { type: 'object', properties: { city: { type: 'string' } } },
    })
    expect(nodesOf(converted).map(({ type }) => type)).toEqual(expect.arrayContaining(['state.get', 'state.set']))
    expect(converted.credentials).toEqual([
      expect.objectContaining({ name: 'My OpenAI', kind: 'openAiApi' }),
      expect.objectContaining({ name: 'google_sheets', paths: [expect.stringMatching(/args\/tools\/0$/)] }),
    ])
    expect(why(converted, 'Agent')).toContain('is also empty in n8n')
    expect(JSON.stringify(converted.definition)).toContain('output.value.city')
  })
})

describe('the graph', () => {
  test('items of a list are processed in a map, and the matching item of another node is found by its position', () => {
    const converted = convert([
      { name: 'List', type: base('splitOut'), parameters: { fieldToSplitOut: 'rows' } },
      set('Each', '={{ $json.n }}'),
      set('Later', "={{ $('List').item.json.n }}"),
    ])
    expect(converted.report.every(({ outcome: of }) => of === 'converted')).toBe(true)
    expect(converted.definition.nodes.map(({ type }) => type)).toEqual(['set', 'code', 'map', 'map'])
    expect(JSON.stringify(converted.definition.nodes[3]!.args)).toContain('nodes.list.output[?index].orValue(null)')
  })

  test('two branches of an If are joined again', () => {
    const condition = {
      conditions: {
        conditions: [{ leftValue: '={{ $json.n }}', rightValue: 1, operator: { type: 'number', operation: 'equals' } }],
      },
    }
    const converted = convert(
      [
        { name: 'If', type: base('if'), parameters: condition, typeVersion: 2 },
        set('Yes', 'y'),
        set('No', 'n'),
        set('End', '={{ $json.a }}'),
      ],
      [
        ['Start', 0, 'If'],
        ['If', 0, 'Yes'],
        ['If', 1, 'No'],
        ['Yes', 0, 'End'],
        ['No', 0, 'End'],
      ],
    )
    const joined = converted.definition.nodes.find(({ name }) => name === 'Input of End')!
    expect(joined.args).toEqual({
      values: { item: { $cel: '(nodes.yes.output != null ? nodes.yes.output : nodes.no.output)' } },
    })
    expect(converted.definition.edges).toContainEqual({ from: { node: 'if_node', port: 'default' }, to: 'no' })
  })

  test('an If filters a list, and nothing follows an empty list', () => {
    const condition = {
      conditions: {
        conditions: [{ leftValue: '={{ $json.n }}', rightValue: 1, operator: { type: 'number', operation: 'gt' } }],
      },
    }
    const converted = convert([
      { name: 'List', type: base('splitOut'), parameters: { fieldToSplitOut: 'rows' } },
      { name: 'If', type: base('if'), parameters: condition, typeVersion: 2 },
      set('End', '={{ $json.n }}'),
    ])
    expect(converted.definition.edges.at(-1)).toEqual({
      from: { node: 'if_node' },
      to: 'end',
      when: { $cel: 'size(nodes.if_node.output?.port_1.orValue(null)) > 0' },
    })
  })

  test('a loop over items becomes a map with one item at a time', () => {
    const converted = convert(
      [
        { name: 'List', type: base('splitOut'), parameters: { fieldToSplitOut: 'rows' } },
        { name: 'Loop', type: base('splitInBatches'), typeVersion: 3, parameters: {} },
        set('Work', "={{ $('Loop').item.json.n }}"),
        set('Done', '={{ $json.a }}'),
      ],
      [
        ['Start', 0, 'List'],
        ['List', 0, 'Loop'],
        ['Loop', 1, 'Work'],
        ['Work', 0, 'Loop'],
        ['Loop', 0, 'Done'],
      ],
    )
    expect(converted.report.map(({ outcome: of }) => of)).toEqual([
      'converted',
      'converted',
      'converted',
      'converted',
      'converted',
    ])
    const loop = converted.definition.nodes.find(({ id }) => id === 'loop_node')!
    expect(loop).toMatchObject({ type: 'map', args: { concurrency: 1, items: { $ref: 'nodes.list.output' } } })
  })

  test('another circle becomes a loop; a circle with two entry nodes is reported, and the definition is valid', () => {
    const edges: [string, number, string][] = [
      ['Start', 0, 'A'],
      ['A', 0, 'B'],
      ['B', 0, 'A'],
    ]
    const nodes = [set('A', 'x'), set('B', 'y')]
    expect(find(convert(nodes, edges), 'loop').args).toMatchObject({ until: { $cel: 'size(state.items) == 0' } })
    const twice = convert(nodes, [...edges, ['Start', 0, 'B']])
    expect([outcome(twice, 'B'), why(twice, 'B')]).toEqual(['by_hand', expect.stringContaining('cycle')])
  })

  test('input.start distinguishes several triggers; notes are kept; unreachable nodes are left out', () => {
    const workflow = {
      nodes: [
        { name: 'Hook', type: base('webhook') },
        { name: 'Clock', type: base('scheduleTrigger') },
        set('End', 'x'),
        set('Alone', 'x'),
        { name: 'Note', type: base('stickyNote'), parameters: { content: 'Read me' } },
      ],
      connections: { Hook: { main: [[{ node: 'End' }]] }, Clock: { main: [[{ node: 'End' }]] } },
    }
    const made = convertN8n(readWorkflow(workflow as unknown as Json), { kinds, services })
    expect(made.definition.nodes[0]).toMatchObject({
      id: 'what_started',
      type: 'branch',
      args: { cases: [{ port: 'trigger_2' }] },
    })
    expect(made.notes).toEqual(['Read me'])
    expect(made.definition.layout).toEqual({ notes: [{ text: 'Read me', x: 0, y: 0 }] })
    expect(outcome(made, 'Alone')).toBe('remark')
    expect(validateDefinition(made.definition, kinds).ok).toBe(true)
  })

  test('an unknown node fails when it runs, with the reason', () => {
    const converted = convert([{ name: 'Odd', type: 'n8n-nodes-odd.thing' }, set('After', '={{ $json.x }}')])
    expect(outcome(converted, 'Odd')).toBe('by_hand')
    expect(find(converted, 'code').args?.source).toContain('To do by hand: Odd')
  })

  test('a missing service is reported, and its node is converted once the service exists', () => {
    const node: Given = {
      name: 'Page',
      type: base('notion'),
      parameters: { resource: 'page', operation: 'archive', pageId: { __rl: true, value: 'p1', mode: 'id' } },
    }
    const workflow = {
      nodes: [{ name: 'Start', type: base('manualTrigger') }, node],
      connections: { Start: { main: [[{ node: 'Page' }]] } },
    }
    const without = convertN8n(readWorkflow(workflow as unknown as Json), { kinds, services: new Map() })
    expect([outcome(without, 'Page'), why(without, 'Page')]).toEqual([
      'by_hand',
      expect.stringContaining('notion is not supported yet'),
    ])
    const schema = {
      type: 'object',
      required: ['page_id'],
      properties: { page_id: { type: 'string' } },
      additionalProperties: false,
    }
    const there = convertN8n(readWorkflow(workflow as unknown as Json), {
      kinds,
      services: new Map([['notion', new Map([['archive_page', schema]])]]),
    })
    expect(outcome(there, 'Page')).toBe('converted')
    const filled = withCredentials(there.definition, there.credentials, () => 'cred_1')
    expect(filled.nodes[1]!.args).toEqual({
      service: 'notion',
      action: 'archive_page',
      args: { page_id: 'p1' },
      credential_id: 'cred_1',
    })
  })
})

describe('keys in parameters', () => {
  const KEY = 'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789'
  const request = (parameters: JsonObject): Given => ({
    name: 'Call',
    type: base('httpRequest'),
    typeVersion: 4.2,
    parameters: { url: 'https://api.example.com/', ...parameters },
  })
  const places: [string, Given[]][] = [
    [
      'a header',
      [
        request({
          sendHeaders: true,
          headerParameters: { parameters: [{ name: 'Authorization', value: `Bearer ${KEY}` }] },
        }),
      ],
    ],
    [
      'a header with an unusual name',
      [request({ sendHeaders: true, headerParameters: { parameters: [{ name: 'X-Custom', value: KEY }] } })],
    ],
    ['a parameter', [request({ sendQuery: true, queryParameters: { parameters: [{ name: 'api_key', value: KEY }] } })]],
    ['an address', [request({ url: `https://api.example.com/x?api_key=${KEY}&q=1` })]],
    ['a body', [request({ method: 'POST', sendBody: true, specifyBody: 'json', jsonBody: `{"key": "${KEY}"}` })]],
    ['a raw body', [request({ method: 'POST', sendBody: true, contentType: 'raw', body: `token=${KEY}` })]],
    ['a Set node', [set('Keys', KEY)]],
    ['an expression', [set('Keys', `={{ "${KEY}" }}`)]],
    ['code', [{ name: 'Code', type: base('code'), parameters: { jsCode: `const apiKey = "${KEY}"\nreturn []` } }]],
    ['a note', [set('A', 'x'), { name: 'Note', type: base('stickyNote'), parameters: { content: `Use ${KEY}` } }]],
    ['an unknown node', [{ name: 'Odd', type: 'n8n-nodes-odd.thing', parameters: { apiKey: KEY } }]],
    ['an expression that cannot be converted', [set('Keys', `={{ window.go("${KEY}") }}`)]],
  ]

  test.each(places)('are removed from %s', (_place, nodes) => {
    const converted = convert(nodes)
    expect(JSON.stringify(converted)).not.toContain(KEY)
    expect(JSON.stringify(converted)).not.toContain(KEY.slice(8, 30))
  })

  test('become a credential of the request, and the rest of the address is kept', () => {
    const converted = convert([request({ url: `https://api.example.com/x?api_key=${KEY}&q=1` })])
    expect(find(converted, 'http.request').args?.url).toBe('https://api.example.com/x?q=1')
    expect(converted.credentials).toEqual([
      { name: 'api.example.com api_key', kind: 'query:api_key', paths: ['/nodes/1/args'] },
    ])
  })

  test.each(['hunter2hunter2', 'Zk9x7Qm2'])('are removed if short, under the name of a secret: %s', (secret) => {
    const converted = convert([
      request({
        method: 'POST',
        sendBody: true,
        bodyParameters: { parameters: [{ name: 'password', value: secret }] },
      }),
    ])
    expect(JSON.stringify(converted)).not.toContain(secret)
    expect(outcome(converted, 'Call')).toBe('by_hand')
  })
})

describe('hostile input', () => {
  const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`
  const bad: [string, string, string][] = [
    ['a text that is not JSON', '{', 'not JSON'],
    ['a value that is not an object', '1', 'not a workflow'],
    ['an object without nodes', '{}', 'not a workflow'],
    ['a value of nodes that is not a list', '{"nodes": {}}', 'not a workflow'],
    ['an empty list of nodes', '{"nodes": []}', 'no nodes'],
    ['a node that is not an object', '{"nodes": [1]}', 'not an object'],
    ['a node without a type', '{"nodes": [{"name": "a"}]}', 'no type'],
    ['a node without a name', '{"nodes": [{"type": "t"}]}', 'no name'],
    [
      'two nodes with the same name',
      '{"nodes": [{"name": "a", "type": "t"}, {"name": "a", "type": "t"}]}',
      'Two nodes',
    ],
    [
      'connections that are not an object',
      '{"nodes": [{"name": "a", "type": "t"}], "connections": 1}',
      '"connections"',
    ],
    ['deep nesting', `{"nodes": [{"name": "a", "type": "t", "parameters": {"x": ${deep}}}]}`, 'too deeply'],
    [
      'too many nodes',
      JSON.stringify({ nodes: Array.from({ length: 500 }, (_, at) => ({ name: `n${at}`, type: 't' })) }),
      'more than',
    ],
    ['too much text', ' '.repeat(9 * 1024 * 1024), 'larger than'],
  ]

  test.each(bad)('%s is refused', (_name, text, told) => {
    expect(() => readN8n(text)).toThrow(ImportFailure)
    expect(() => readN8n(text)).toThrow(told)
  })

  test('names of prototypes and unexpected types have no effect', () => {
    const text = `{"nodes": [
      {"name": "__proto__", "type": "n8n-nodes-base.set", "parameters": {"assignments": {"assignments": [{"name": "__proto__.x", "value": 1}]}}},
      {"name": "constructor", "type": "n8n-nodes-base.toString", "parameters": {"__proto__": {"a": 1}, "$ref": "x"}},
      {"name": "If", "type": "n8n-nodes-base.if", "parameters": {"conditions": 7}},
      {"name": "Switch", "type": "n8n-nodes-base.switch", "parameters": {"rules": [null, 1]}},
      {"name": "Http", "type": "n8n-nodes-base.httpRequest", "parameters": {"url": {"a": 1}, "sendHeaders": true, "headerParameters": [1]}}
    ], "connections": {"__proto__": {"main": [[{"node": "constructor"}]]}, "constructor": {"main": [[{"node": "If"}, {"node": "Switch"}, {"node": 7}], null, 3]}, "If": {"main": [[{"node": "Http"}]]}}}`
    const converted = convertN8n(readN8n(text), { kinds, services })
    expect(validateDefinition(converted.definition as Definition, kinds).ok).toBe(true)
    expect(({} as { a?: unknown; x?: unknown }).a ?? ({} as { x?: unknown }).x).toBeUndefined()
  })

  test('a long chain and many connections are converted in acceptable time', () => {
    const nodes = Array.from({ length: 300 }, (_, at) => set(`N${at}`, `={{ $json.a }}`))
    const converted = convert(nodes)
    expect(converted.report).toHaveLength(301)
  })
})
