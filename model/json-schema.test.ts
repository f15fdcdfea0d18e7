import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from './definition.ts'
import { validateJson } from './json-schema.ts'
import { checkSchema } from './json-schema-check.ts'

const ok = (schema: Json, value: Json): boolean => validateJson(schema, value).length === 0

describe('a value against a schema', () => {
  it('is refused with the path of each wrong field', () => {
    const schema = {
      type: 'object',
      required: ['name', 'lines'],
      additionalProperties: false,
      properties: {
        name: { type: 'string', minLength: 1 },
        lines: { type: 'array', items: { type: 'object', properties: { 'a/b': { type: 'integer', minimum: 1 } } } },
      },
    }
    expect(validateJson(schema, { lines: [{ 'a/b': 0 }, { 'a/b': 1.5 }], extra: 1 })).toEqual([
      { path: '/name', message: 'is required' },
      { path: '/lines/0/a~1b', message: 'must be at least 1' },
      { path: '/lines/1/a~1b', message: 'must be integer' },
      { path: '/extra', message: 'unknown field' },
    ])
  })

  it('names the wrong field in the alternative that matches best', () => {
    const schema: Json = {
      oneOf: [
        { type: 'object', required: ['kind', 'size'], properties: { kind: { const: 'a' }, size: { type: 'number' } } },
        { type: 'string' },
      ],
    }
    expect(validateJson(schema, { kind: 'a', size: 'big' })).toEqual([{ path: '/size', message: 'must be number' }])
  })

  it('follows references inside the schema, also recursive ones', () => {
    const tree = {
      $ref: '#/$defs/node',
      $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' }, id: { type: 'integer' } } } },
    }
    expect(ok(tree, { id: 1, next: { id: 2 } })).toBe(true)
    expect(validateJson(tree, { next: { next: { id: 'x' } } })).toEqual([
      { path: '/next/next/id', message: 'must be integer' },
    ])
  })

  it.each([
    ['date', '2024-02-29', '2023-02-29'],
    ['date-time', '2024-01-01T10:00:00.5Z', '2024-01-01 10:00'],
    ['email', 'ann@example.org', 'ann@'],
    ['uuid', '019a0000-0000-7000-8000-000000000000', '019a'],
    ['uri', 'https://example.org/x?y=1', 'not a uri'],
  ])('checks the format %s', (format, good, bad) => {
    expect(ok({ format }, good)).toBe(true)
    expect(ok({ format }, bad)).toBe(false)
  })

  it('does not check an opaque value', () => {
    const opaque = (value: Json) => typeof value === 'object' && value !== null && '$ref' in value
    const schema = { type: 'object', properties: { n: { oneOf: [{ type: 'integer' }, { type: 'string' }] } } }
    expect(validateJson(schema, { n: { $ref: 'x' } }, { opaque })).toEqual([])
    expect(validateJson(schema, { n: {} }, { opaque, path: '/args' })[0]?.path).toBe('/args/n')
  })
})

describe('hostile schemas', () => {
  it.each<[string, Json, Json]>([
    ['a reference to itself', { $ref: '#' }, 1],
    [
      'two references to each other',
      { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
      1,
    ],
    [
      'alternatives that multiply',
      {
        $ref: '#/$defs/a',
        $defs: { a: { anyOf: [{ allOf: [{ $ref: '#/$defs/a' }] }, { allOf: [{ $ref: '#/$defs/a' }] }] } },
      },
      1,
    ],
    [
      'branching over a deep value',
      {
        $defs: {
          a: { properties: { x: { oneOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }, { type: 'null' }] } } },
        },
        $ref: '#/$defs/a',
      },
      Array.from({ length: 40 }).reduce<Json>((inner) => ({ x: inner }), {}),
    ],
    [
      'repeated counting of a long text',
      { allOf: Array.from({ length: 100 }, (_, n) => ({ maxLength: 300_000 + n })) },
      'x'.repeat(400_000),
    ],
    [
      'a long list of required fields, for each item',
      { contains: { required: Array.from({ length: 20_000 }, (_, n) => `n${n}`) } },
      Array.from({ length: 20 }, () => ({})),
    ],
    [
      'repeated reporting of a large constant',
      {
        $defs: { large: { const: Array.from({ length: 50_000 }, (_, n) => n) } },
        anyOf: Array.from({ length: 200 }, () => ({ $ref: '#/$defs/large' })),
      },
      1,
    ],
    [
      'nested alternatives, each evaluated again for unevaluated properties',
      Array.from({ length: 20 }).reduce<Json>(
        (inner) => ({ anyOf: [inner, { properties: { a: true } }], unevaluatedProperties: false }),
        { properties: { a: true } },
      ),
      { a: 1 },
    ],
  ])('ends: %s', (_name, schema, value) => {
    expect(validateJson(schema, value)).toEqual([
      { path: '', message: 'checking this takes too much work; simplify the schema or the data' },
    ])
  })

  it('limits a large pattern over a long text', () => {
    expect(ok({ pattern: '(x+x+)+y' }, 'x'.repeat(100_000))).toBe(false)
    expect(ok({ pattern: '^(a+)+$' }, `${'a'.repeat(10_000)}!`)).toBe(false)
  })

  it('read own properties only', () => {
    expect(ok({ required: ['toString'] }, {})).toBe(false)
    expect(ok({ properties: { constructor: false } }, {})).toBe(true)
    expect(ok({ type: 'object', additionalProperties: false }, JSON.parse('{"__proto__": 1}'))).toBe(false)
  })

  it('are refused when saved, with the name of the keyword', () => {
    const paths = (schema: Json) => checkSchema(schema).map((issue) => issue.path)
    expect(paths({ type: 'sting' })).toEqual(['/type'])
    expect(paths({ properties: { a: { pattern: '(?=x)' } } })).toEqual(['/properties/a/pattern'])
    expect(paths({ patternProperties: { '(': true } })).toEqual(['/patternProperties/('])
    expect(paths({ $ref: 'https://example.org/schema.json' })).toEqual(['/$ref'])
    expect(paths({ items: { $ref: '#/$defs/none' } })).toEqual(['/items/$ref'])
    expect(paths({ $recursiveRef: '#' })).toEqual(['/$recursiveRef'])
    expect(paths({ minLength: -1, maximum: 'x', multipleOf: 0, required: 'a', enum: 1 })).toHaveLength(5)
    expect(paths(JSON.parse('{"properties": {"__proto__": {}}}'))).toEqual(['/properties/__proto__'])
    expect(paths({ properties: 3 })).toEqual(['/properties'])
    const deep = Array.from({ length: 60 }).reduce<Json>((inner) => ({ items: inner }), {})
    expect(checkSchema(deep)[0]?.message).toContain('nested at most')
    expect(paths({ type: ['string', 'null'], title: 'x', default: 1, 'x-anything': {} })).toEqual([])
  })
})

describe('compared with another implementation', () => {
  const key = fc.constantFrom('a', 'b', 'c')
  const scalar = fc.oneof(
    fc.integer({ min: -3, max: 6 }),
    fc.constantFrom(0.5, 1.5),
    fc.constantFrom('', 'a', 'ab', 'abc', '😀'),
    fc.boolean(),
    fc.constant(null),
  )
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', maxDepth: 3 },
      scalar,
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(key, tie('value'), { maxKeys: 3, noNullPrototype: true }),
    ),
  }))
  const type = fc.constantFrom('null', 'boolean', 'object', 'array', 'number', 'string', 'integer')
  const consequence = 'then'
  const count = fc.nat({ max: 4 })
  const { schema } = fc.letrec<{ schema: Json }>((tie) => {
    const inner = tie('schema')
    const some = fc.array(inner, { minLength: 1, maxLength: 3 })
    return {
      schema: fc.oneof(
        { depthSize: 'small', maxDepth: 3 },
        fc.boolean(),
        fc.record(
          {
            type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 2 })),
            minimum: fc.integer({ min: -2, max: 3 }),
            exclusiveMaximum: fc.integer({ min: 0, max: 5 }),
            multipleOf: fc.constantFrom(1, 2, 0.5),
            minLength: count,
            maxLength: count,
            pattern: fc.constantFrom('^a', 'b$', '^[ab]+$', ''),
            minItems: count,
            maxItems: count,
            uniqueItems: fc.boolean(),
            const: value,
          },
          { requiredKeys: [] },
        ),
        fc.record(
          {
            enum: fc.uniqueArray(value, {
              minLength: 1,
              maxLength: 3,
              comparator: (a, b) => JSON.stringify(a) === JSON.stringify(b),
            }),
            properties: fc.dictionary(key, inner, { maxKeys: 3, noNullPrototype: true }),
            required: fc.uniqueArray(key, { maxLength: 2 }),
            additionalProperties: inner,
            patternProperties: fc.dictionary(fc.constantFrom('^a$', '[bc]'), inner, {
              maxKeys: 2,
              noNullPrototype: true,
            }),
            propertyNames: inner,
            minProperties: count,
            dependentRequired: fc.dictionary(key, fc.uniqueArray(key, { maxLength: 2 }), {
              maxKeys: 2,
              noNullPrototype: true,
            }),
            items: inner,
            prefixItems: some,
          },
          { requiredKeys: [] },
        ),
        // `contains` is tested alone: beside `prefixItems` the oracle accepts an empty list, which the specification
        // does not.
        fc.record({
          contains: fc.constantFrom<Json>({ type: 'string' }, { minimum: 2 }, { const: 'a' }),
          maxContains: fc.nat({ max: 2 }),
        }),
        fc.record(
          { allOf: some, anyOf: some, oneOf: some, not: inner, if: inner, [consequence]: inner, else: inner },
          { requiredKeys: [] },
        ),
        fc.record({ $defs: fc.record({ d: inner }), allOf: some }),
      ),
    }
  })

  it('agrees on validity for random schemas and values', () => {
    const oracle = new Ajv2020({ strict: false, validateSchema: false, logger: false, code: { optimize: false } })
    let [tried, valid] = [0, 0]
    fc.assert(
      fc.property(schema, value, (anySchema, anyValue) => {
        fc.pre(checkSchema(anySchema).length === 0)
        tried += 1
        const expected = oracle.compile(anySchema as object)(anyValue) === true
        if (expected) valid += 1
        expect(validateJson(anySchema, anyValue).length === 0).toBe(expected)
      }),
      { numRuns: 800 },
    )
    expect(valid / tried).toBeGreaterThan(0.1)
  })
})
