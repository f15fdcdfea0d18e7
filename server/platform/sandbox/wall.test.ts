import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { nodeFlags } from './process.ts'

/** What an attacker could do who had escaped from JSONata or QuickJS and could call any function of Node. */
const probe = (port: number) => `
import fs from 'node:fs'
import net from 'node:net'
import dgram from 'node:dgram'
import dns from 'node:dns'
import http from 'node:http'
import { Worker } from 'node:worker_threads'
import { spawnSync } from 'node:child_process'
import { freezeBuiltIns, harden } from './inside-harden.ts'
harden()
freezeBuiltIns()
const attempts = {
  readFile: () => fs.readFileSync('/etc/hostname', 'utf8'),
  readEnvironment: () => fs.readFileSync('/proc/self/environ', 'utf8'),
  readParent: () => fs.readdirSync('/'),
  writeFile: () => fs.writeFileSync('/tmp/heddle-sandbox-probe', 'x'),
  spawn: () => { const { error } = spawnSync('/bin/true'); if (error) throw error },
  thread: () => new Worker('1', { eval: true }),
  connect: () => net.connect(${port}, '127.0.0.1'),
  request: () => http.get('http://127.0.0.1:${port}/'),
  fetch: () => globalThis.fetch('http://127.0.0.1:${port}/'),
  listen: () => net.createServer().listen(0),
  datagram: () => dgram.createSocket('udp4').send('x', ${port}, '127.0.0.1'),
  resolve: () => dns.lookup('localhost', () => {}),
  binding: () => process.binding('fs'),
  codeFromText: () => Function('return 1')(),
  constructorChain: () => (() => {}).constructor('return process')(),
  pollute: () => { Object.prototype.polluted = 1 },
  replace: () => { Array.prototype.map = () => 1 },
  proto: () => { if ({}.__proto__ !== undefined) return; throw new Error('no __proto__') },
}
const reached = []
for (const [name, attempt] of Object.entries(attempts)) {
  try { attempt(); reached.push(name) } catch {}
}
process.stdout.write(JSON.stringify({ reached, environment: Object.keys(process.env) }))
setTimeout(() => process.exit(), 100)
`

it('a sandbox process has no access to files, programs, threads, the network, the environment or code from text', async () => {
  let connections = 0
  const canary = createServer(() => {
    connections += 1
  })
  await new Promise<void>((done) => canary.listen(0, '127.0.0.1', done))
  const { port } = canary.address() as { port: number }
  const child = spawn(process.execPath, [...nodeFlags(), '--input-type=module', '-e', probe(port)], {
    env: {},
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let errors = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  await new Promise((done) => child.once('close', done))
  canary.close()
  expect(errors).toBe('')
  expect(JSON.parse(output)).toEqual({ reached: [], environment: [] })
  expect(connections).toBe(0)
})
