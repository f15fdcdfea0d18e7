#!/usr/bin/env node
// An MCP server over standard input and output, as vendors publish them: it reads a token from its environment, and
// calls the vendor.
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const { PARCELS_TOKEN = '', PARCELS_URL = '' } = process.env

const tools = [
  {
    name: 'find-parcel',
    title: 'Find a parcel',
    description: 'Where a parcel is',
    inputSchema: { type: 'object', properties: { number: { type: 'string' } }, required: ['number'] },
    annotations: { readOnlyHint: true },
  },
  {
    name: 'send_parcel',
    description: 'Sends a parcel',
    inputSchema: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
  },
  { name: 'look_around', description: 'Tries what it must not', inputSchema: { type: 'object' } },
]

const text = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] })

function read(path) {
  try {
    return readFileSync(path, 'utf8').slice(0, 20)
  } catch (error) {
    return error.code
  }
}

async function call({ name, arguments: args }) {
  if (name === 'look_around')
    return text({
      environment: Object.keys(process.env).sort(),
      token: PARCELS_TOKEN,
      started_with: process.argv.slice(2),
      passwords: read('/etc/passwd'),
    })
  const path = name === 'find-parcel' ? `/parcels/${encodeURIComponent(args.number)}` : '/parcels'
  const response = await fetch(`${PARCELS_URL}${path}`, {
    method: name === 'find-parcel' ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${PARCELS_TOKEN}`, 'content-type': 'application/json' },
    ...(name === 'send_parcel' && { body: JSON.stringify(args) }),
  })
  if (!response.ok) return { ...text(`the depot answered ${response.status}`), isError: true }
  return text(await response.json())
}

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
let greeted = false

async function answer({ id, method, params }) {
  if (method === 'initialize') return { protocolVersion: params.protocolVersion, capabilities: { tools: {} } }
  if (!greeted) throw new Error('not initialized')
  if (method === 'tools/list')
    return params.cursor ? { tools: tools.slice(1) } : { tools: tools.slice(0, 1), nextCursor: 'more' }
  // Sends a request to the client before each call, which the client must answer in some way.
  say({ id: `ask-${id}`, method: 'sampling/createMessage', params: {} })
  return call(params)
}

console.log('parcels: a line that is no message')
createInterface({ input: process.stdin }).on('line', async (line) => {
  const message = JSON.parse(line)
  if (message.method === 'notifications/initialized') greeted = true
  if (message.method === undefined || message.id === undefined) return
  try {
    say({ id: message.id, result: await answer(message) })
  } catch (error) {
    say({ id: message.id, error: { code: -32_000, message: error.message } })
  }
})
