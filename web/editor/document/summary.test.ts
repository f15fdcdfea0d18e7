import { expect, test } from 'vitest'
import type { JsonObject } from '#model/definition'
import { summaryOf } from './summary.ts'

test.each<[string, JsonObject, string | undefined]>([
  ['http.request', { url: 'https://api.example.com/orders' }, 'GET api.example.com/orders'],
  ['http.request', { method: 'POST', url: { $cel: 'vars.base + "/x"' } }, 'POST vars.base + "/x"'],
  ['http.request', {}, undefined],
  ['set', { values: { total: 1, name: 'x' } }, 'total, name'],
  ['set', { values: {} }, undefined],
  ['branch', { cases: [{ port: 'a' }] }, '1 case'],
  ['map', { items: { $ref: 'input.orders' } }, 'each of input.orders'],
  ['wait', { for_s: 45 }, '45 s'],
  ['wait', { for_s: 5400 }, '90 min'],
  ['wait', { for_s: 259_200 }, '3 d'],
  ['wait', { for_s: { $ref: 'input.pause' } }, 'input.pause s'],
  ['mail.send', { to: ['a@example.com', 'b@example.com'], subject: 'Hello' }, 'a@example.com, b@example.com: Hello'],
  ['service.call', { service: 'slack', action: 'send_message' }, 'slack · send_message'],
  ['llm.generate', { prompt: `Write\n  ${'x'.repeat(80)}` }, `Write ${'x'.repeat(53)}…`],
  ['nobody.knows', { a: 1 }, undefined],
])('%s %j is summarised as %s', (type, args, expected) => {
  expect(summaryOf({ type, args })).toBe(expected)
})
