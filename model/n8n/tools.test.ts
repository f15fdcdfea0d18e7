import { expect, test } from 'vitest'
import { base, byHand, convertNodes, type Given, lang, nodesOf } from '#test/n8n/convert'

// Nodes as tools: attached to an agent, and offered by a tool server.

const agent: Given = {
  name: 'Agent',
  type: lang('agent'),
  typeVersion: 1.7,
  parameters: { promptType: 'define', text: '={{ $json.q }}', options: { systemMessage: 'Be kind.' } },
}
const start: Given = { name: 'Start', type: base('manualTrigger') }
const withTools = (...tools: Given[]) =>
  convertNodes(
    [start, agent, ...tools],
    [['Start', 'Agent'], ...tools.map(({ name }): [string, string, string] => [name, 'Agent', 'ai_tool'])],
  )

test('values that the template fixes are fixed, and the model fills in the same values as in n8n', () => {
  const converted = withTools({
    name: 'Tell',
    type: base('slackTool'),
    typeVersion: 2.3,
    credentials: { slackApi: { id: '1', name: 'My Slack' } },
    parameters: {
      select: 'channel',
      channelId: { __rl: true, mode: 'id', value: 'C1' },
      text: "={{ /*n8n-auto-generated-fromAI-override*/ $fromAI('Message', `what's new`, 'string') }}",
    },
  })
  expect(byHand(converted)).toEqual([])
  const [run] = nodesOf(converted, 'agent.run')
  expect(run!.args).toMatchObject({
    tools: [{ service: 'slack', action: 'send_message', arguments: { fixed: { channel: 'C1' } } }],
    instructions: expect.stringMatching(/^Be kind\.\n\nTools:\nTell: slack\.send_message, where you fill in text/),
  })
  expect(JSON.stringify(run!.args)).not.toMatch(/"fixed":\{[^}]*text/)
  expect(converted.credentials).toMatchObject([{ name: 'My Slack', paths: ['/nodes/1/args/tools/0'] }])
})

test('requests, servers, code and the time are granted, each with its credential inside', () => {
  const converted = withTools(
    {
      name: 'Look up',
      type: lang('toolHttpRequest'),
      credentials: { httpHeaderAuth: { id: '1', name: 'Shop key' } },
      parameters: {
        url: 'https://shop.example.com/orders/{order}',
        authentication: 'genericCredentialType',
        genericAuthType: 'httpHeaderAuth',
        toolDescription: 'Finds an order',
      },
    },
    {
      name: 'Server',
      type: lang('mcpClientTool'),
      credentials: { httpBearerAuth: { id: '2', name: 'Server key' } },
      parameters: { endpointUrl: 'https://tools.example.com/mcp', authentication: 'bearerAuth' },
    },
    { name: 'Double', type: lang('toolCode'), parameters: { jsCode: 'return String(Number(query) * 2)' } },
    { name: 'Now', type: base('dateTimeTool'), parameters: {} },
    { name: 'Open', type: lang('mcpClientTool'), parameters: {} },
  )
  expect(byHand(converted)).toEqual([])
  const { args } = nodesOf(converted, 'agent.run')[0]!
  expect(args).toMatchObject({
    tools: [
      { type: 'http.request', arguments: { fixed: { method: 'GET' } } },
      { type: 'code', arguments: { fixed: { source: expect.stringContaining('Number(query) * 2') } } },
      { type: 'code', arguments: { fixed: { source: 'return new Date().toISOString()' } } },
    ],
    mcp: [{ url: 'https://tools.example.com/mcp' }],
    instructions: expect.stringContaining('Finds an order'),
  })
  expect(converted.credentials.map(({ name, paths }) => [name, paths])).toEqual([
    ['Shop key', ['/nodes/1/args/tools/0/arguments/fixed']],
    ['Server key', ['/nodes/1/args/mcp/0']],
  ])
})

test('an agent below an agent passes its instructions and tools up; tools without a counterpart are named', () => {
  const converted = convertNodes(
    [
      start,
      agent,
      {
        name: 'Writer',
        type: lang('agentTool'),
        parameters: { options: { systemMessage: 'Write briefly.' }, toolDescription: 'Writes' },
      },
      { name: 'Sum', type: lang('toolCalculator'), parameters: {} },
      { name: 'Other', type: lang('toolWorkflow'), parameters: { workflowId: 'x' } },
      { name: 'Files', type: base('readWriteFileTool'), parameters: {} },
    ],
    [
      ['Start', 'Agent'],
      ['Writer', 'Agent', 'ai_tool'],
      ['Sum', 'Writer', 'ai_tool'],
      ['Other', 'Agent', 'ai_tool'],
      ['Files', 'Agent', 'ai_tool'],
    ],
  )
  expect(nodesOf(converted, 'agent.run')[0]!.args).toMatchObject({
    tools: [{ type: 'transform' }],
    instructions: expect.stringContaining('As Writer (Writes): Write briefly.'),
  })
  expect(byHand(converted)).toEqual([
    expect.stringMatching(/^Agent: the tool "Other" \(toolWorkflow\).*the tool "Files" \(readWriteFileTool\)/),
  ])
})

test('a tool server is one workflow whose argument selects the tool', () => {
  const converted = convertNodes(
    [
      { name: 'Tools', type: lang('mcpTrigger'), parameters: { path: 'x' } },
      {
        name: 'Find pet',
        type: base('httpRequestTool'),
        typeVersion: 4.2,
        parameters: {
          url: "=https://pets.example.com/{{ $fromAI('id', 'the pet's id', 'string') }}",
          sendQuery: true,
          queryParameters: { parameters: [{ name: 'full', value: "={{ $fromAI('full', 'isn't it', 'string') }}" }] },
          toolDescription: 'Finds a pet',
        },
      },
      {
        name: 'Mail',
        type: base('gmailTool'),
        typeVersion: 2.1,
        parameters: { sendTo: "={{ $fromAI('to') }}", subject: 'Hi', message: "={{ $fromAI('text') }}" },
      },
    ],
    [
      ['Find pet', 'Tools', 'ai_tool'],
      ['Mail', 'Tools', 'ai_tool'],
    ],
  )
  expect(byHand(converted)).toEqual([])
  expect(converted.definition.inputs).toMatchObject({
    properties: { tool: { enum: ['find_pet', 'mail'], description: expect.stringContaining('Finds a pet') } },
    required: ['tool'],
  })
  expect(nodesOf(converted, 'branch')[0]!.args).toMatchObject({
    cases: [{ when: { $cel: 'input?.tool.orValue("") == "find_pet"' } }, { port: 'case_2' }],
  })
  expect(nodesOf(converted, 'http.request')[0]!.args).toMatchObject({
    query: { full: { $ref: 'input.arguments.full' } },
  })
  expect(nodesOf(converted, 'service.call')[0]!.args).toMatchObject({ action: 'send_message', args: { subject: 'Hi' } })
})
