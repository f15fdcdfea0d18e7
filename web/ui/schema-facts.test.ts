import { expect, test } from 'vitest'
import { factsOf } from './schema-facts.ts'

test('settings are shown with the titles of their fields, and choices with their titles', () => {
  const schema = {
    type: 'object',
    properties: {
      host: { type: 'string', title: 'Host' },
      ssl: { title: 'Encryption', oneOf: [{ const: 'off', title: 'Not encrypted' }] },
      https: { type: 'boolean', title: 'HTTPS' },
      scopes: { type: 'array', title: 'Scopes' },
      more: { type: 'object', title: 'More' },
    },
  }
  const filled = {
    host: 'db.example',
    ssl: 'off',
    https: true,
    scopes: ['read', 'write'],
    more: { audience: 'x', tries: 2 },
    later: 'of a newer service',
    empty: '',
    none: null,
  }
  expect(factsOf(schema, filled)).toEqual([
    ['Host', 'db.example'],
    ['Encryption', 'Not encrypted'],
    ['HTTPS', 'yes'],
    ['Scopes', 'read, write'],
    ['More', 'audience: x, tries: 2'],
    ['later', 'of a newer service'],
  ])
  expect(factsOf({}, { ca: 'x'.repeat(1000) })).toEqual([['ca', `${'x'.repeat(300)}…`]])
})
