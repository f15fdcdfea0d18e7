import { describe, expect, test } from 'vitest'
import { canonicalText } from './canonical.ts'
import type { Json, JsonObject } from './definition.ts'
import { at, isForbiddenKey, isObject, measureJson, own } from './json.ts'
import { validateJson } from './json-schema.ts'
import { checkSchema } from './json-schema-check.ts'
import { resolvePointer } from './json-schema-index.ts'
import { jsonSize, rememberSize } from './size.ts'

// JSON Schema 2020-12, keyword by keyword: which values pass, and which errors other values get.

// An object with a key of this name looks like a promise.
const THEN = 'then'

const told = (schema: Json, value: Json): string[] =>
  validateJson(schema, value).map(({ path, message }) => (path === '' ? message : `${path} ${message}`))

describe('types', () => {
  const VALUES: Json[] = [null, true, {}, [], 1, 1.5, 'x']
  test.each<[string, boolean[]]>([
    ['null', [true, false, false, false, false, false, false]],
    ['boolean', [false, true, false, false, false, false, false]],
    ['object', [false, false, true, false, false, false, false]],
    ['array', [false, false, false, true, false, false, false]],
    ['integer', [false, false, false, false, true, false, false]],
    ['number', [false, false, false, false, true, true, false]],
    ['string', [false, false, false, false, false, false, true]],
  ])('%s', (type, expected) => {
    expect(VALUES.map((value) => told({ type }, value).length === 0)).toEqual(expected)
  })

  test('accepts a list of types, and reports a wrong type', () => {
    expect(told({ type: ['string', 'null'] }, null)).toEqual([])
    expect(told({ type: ['string', 'null'] }, 1)).toEqual(['must be string or null'])
    // A value of the wrong type gets no other error.
    expect(told({ type: 'string', minimum: 5, enum: ['a'] }, 1)).toEqual(['must be string'])
  })
})

const TYPED = {
  type: 'object',
  required: ['type'],
  properties: { type: { type: 'string' }, arguments: { type: 'object' } },
  additionalProperties: false,
}
const NAMED = {
  type: 'object',
  required: ['workflow_id'],
  properties: { workflow_id: { type: 'string' } },
  additionalProperties: false,
}
const kindOf = (kind: string, field: string) => ({
  type: 'object',
  required: ['kind', field],
  properties: { kind: { const: kind } },
})

describe('a value', () => {
  test.each<[Json, Json, string[]]>([
    [true, 1, []],
    [false, 1, ['is not allowed']],
    [{}, 1, []],
    [{ const: 1 }, 1, []],
    [{ const: 1 }, 2, ['must be 1']],
    [{ const: null }, null, []],
    [{ const: null }, 1, ['must be null']],
    [{ const: { a: [1, { b: 2 }] } }, { a: [1, { b: 2 }] }, []],
    [{ const: { a: 1, b: 2 } }, { b: 2, a: 1 }, []],
    [{ const: { a: 1 } }, { a: 1, b: 2 }, ['must be {"a":1}']],
    [{ const: { a: 1, b: 2 } }, { a: 1 }, ['must be {"a":1,"b":2}']],
    [{ const: { a: 1 } }, { b: 1 }, ['must be {"a":1}']],
    [{ const: [1, 2] }, [1], ['must be [1,2]']],
    [{ const: [1] }, [1, 2], ['must be [1]']],
    [{ const: [1] }, { 0: 1 }, ['must be [1]']],
    [{ const: { 0: 1 } }, [1], ['must be {"0":1}']],
    [{ const: '1' }, 1, ['must be "1"']],
    [{ enum: [1, 'a', null] }, 'a', []],
    [{ enum: [1, 'a', null] }, null, []],
    [{ enum: [1, 'a'] }, 2, ['must be one of 1, "a"']],
    [{ enum: [] }, 2, ['must be one of ']],
    [{ minimum: 2 }, 2, []],
    [{ minimum: 2 }, 1, ['must be at least 2']],
    [{ maximum: 2 }, 2, []],
    [{ maximum: 2 }, 3, ['must be at most 2']],
    [{ exclusiveMinimum: 2 }, 3, []],
    [{ exclusiveMinimum: 2 }, 2, ['must be more than 2']],
    [{ exclusiveMaximum: 2 }, 1, []],
    [{ exclusiveMaximum: 2 }, 2, ['must be less than 2']],
    [{ multipleOf: 3 }, 6, []],
    [{ multipleOf: 3 }, 7, ['must be a multiple of 3']],
    [{ minimum: 'x', maximum: null }, 1, []],
    [{ minimum: 5, minLength: 5, minItems: 5, minProperties: 5 }, true, []],
    [{ minLength: 2 }, 'ab', []],
    [{ minLength: 2 }, 'a', ['must have at least 2 characters']],
    [{ minLength: 1 }, '', ['must not be empty']],
    [{ minLength: 2 }, '', ['must not be empty']],
    [{ minLength: 2 }, '😀', ['must have at least 2 characters']],
    [{ minLength: 2 }, '😀a', []],
    [{ maxLength: 2 }, 'ab', []],
    [{ maxLength: 2 }, 'abc', ['must have at most 2 characters']],
    [{ maxLength: 1 }, 'ab', ['must have at most 1 character']],
    [{ maxLength: 2 }, '😀😀', []],
    [{ maxLength: 2 }, '😀😀a', ['must have at most 2 characters']],
    [{ maxLength: 0 }, '', []],
    [{ pattern: '^a' }, 'ab', []],
    [{ pattern: '^a' }, 'ba', ['must match the pattern ^a']],
    [{ pattern: '(' }, 'ba', ['must match the pattern (']],
    [{ format: 'date' }, '2026-02-30', ['must be a valid date']],
    [{ format: 'unknown' }, 'x', []],
    [{ minItems: 2 }, [1, 2], []],
    [{ minItems: 2 }, [1], ['must have at least 2 items']],
    [{ maxItems: 1 }, [1], []],
    [{ maxItems: 1 }, [1, 2], ['must have at most 1 item']],
    [{ items: { type: 'string' } }, ['a', 1], ['/1 must be string']],
    [{ items: false }, [], []],
    [{ items: false }, [1], ['/0 is not allowed']],
    [{ prefixItems: [{ type: 'string' }, { type: 'number' }] }, ['a', 1, null], []],
    [{ prefixItems: [{ type: 'string' }, { type: 'number' }] }, [1, 'a'], ['/0 must be string', '/1 must be number']],
    [{ prefixItems: [{ type: 'string' }], items: { type: 'number' } }, ['a', 1, 'b'], ['/2 must be number']],
    [{ uniqueItems: true }, [1, '1', [1], { a: 1 }, true, null], []],
    [{ uniqueItems: true }, [1, 2, 1], ['must not contain the same item twice']],
    [
      { uniqueItems: true },
      [
        { a: 1, b: [2] },
        { b: [2], a: 1 },
      ],
      ['must not contain the same item twice'],
    ],
    [{ uniqueItems: true }, [1, 1, 1], ['must not contain the same item twice']],
    [{ uniqueItems: true }, [['a', 'b'], ['a,b']], []],
    [{ uniqueItems: false }, [1, 1], []],
    [{ contains: { type: 'string' } }, [1, 'a'], []],
    [{ contains: { type: 'string' } }, [1], ['must contain at least 1 items that match the schema of contains']],
    [{ contains: { type: 'string' }, minContains: 2 }, ['a', 'b'], []],
    [
      { contains: { type: 'string' }, minContains: 2 },
      ['a'],
      ['must contain at least 2 items that match the schema of contains'],
    ],
    [{ contains: { type: 'string' }, minContains: 0 }, [1], []],
    [{ contains: { type: 'string' }, maxContains: 1 }, ['a', 1], []],
    [
      { contains: { type: 'string' }, maxContains: 1 },
      ['a', 'b'],
      ['must contain at most 1 items that match the schema of contains'],
    ],
    [{ minProperties: 1 }, { a: 1 }, []],
    [{ minProperties: 1 }, {}, ['must have at least 1 field']],
    [{ maxProperties: 1 }, { a: 1 }, []],
    [{ maxProperties: 1 }, { a: 1, b: 2 }, ['must have at most 1 field']],
    [{ required: ['a', 'b'] }, { a: null }, ['/b is required']],
    [{ required: ['a', 1] }, { a: 1 }, []],
    [{ required: 'a' }, {}, []],
    [{ dependentRequired: { a: ['b'] } }, { a: 1 }, ['/b is required']],
    [{ dependentRequired: { a: ['b'] } }, { c: 1 }, []],
    [{ dependentRequired: { a: ['b'] } }, { a: 1, b: 1 }, []],
    [{ dependentSchemas: { a: { required: ['b'] } } }, { a: 1 }, ['/b is required']],
    [{ dependentSchemas: { a: { required: ['b'] } } }, { c: 1 }, []],
    [{ properties: { a: { type: 'string' } } }, { a: 1, b: 1 }, ['/a must be string']],
    [{ properties: { a: false } }, { b: 1 }, []],
    [{ additionalProperties: false, properties: { a: true } }, { a: 1, b: 1 }, ['/b unknown field']],
    [{ additionalProperties: { type: 'string' }, properties: { a: true } }, { a: 1, b: 1 }, ['/b must be string']],
    [{ additionalProperties: false, patternProperties: { '^x': true } }, { xa: 1, b: 1 }, ['/b unknown field']],
    [{ patternProperties: { '^x': { type: 'string' } } }, { xa: 1, b: 1 }, ['/xa must be string']],
    [
      { properties: { xa: { minimum: 2 } }, patternProperties: { '^x': { minimum: 3 } } },
      { xa: 1 },
      ['/xa must be at least 2', '/xa must be at least 3'],
    ],
    [{ propertyNames: { maxLength: 2 } }, { ab: 1, abc: 1 }, ['/abc this name is not allowed']],
    [{ allOf: [{ minimum: 2 }, { multipleOf: 2 }] }, 1, ['must be at least 2', 'must be a multiple of 2']],
    [{ anyOf: [{ type: 'string' }, { minimum: 2 }] }, 3, []],
    [
      { anyOf: [{ type: 'string' }, { minimum: 2 }] },
      1,
      ['must match one of the allowed forms: must be string, or must be at least 2'],
    ],
    [{ anyOf: [{ minimum: 2 }] }, 1, ['must be at least 2']],
    [{ anyOf: [{ type: 'string' }, { properties: { a: { type: 'string' } } }] }, { a: 1 }, ['/a must be string']],
    [{ anyOf: [{ properties: { a: { type: 'string' } } }, { type: 'string' }] }, { a: 1 }, ['/a must be string']],
    [{ oneOf: [{ minimum: 2 }, { multipleOf: 2 }] }, 3, []],
    [{ oneOf: [{ minimum: 2 }, { multipleOf: 2 }] }, 4, ['must match exactly one of the allowed forms, not 2']],
    [
      { oneOf: [{ minimum: 2 }, { multipleOf: 2 }] },
      1,
      ['must match one of the allowed forms: must be at least 2, or must be a multiple of 2'],
    ],
    [
      { anyOf: [{ enum: ['any', 'all'] }, { type: 'object', required: ['n_of'] }] },
      1,
      ['must match one of the allowed forms: must be one of "any", "all", or must be object with n_of'],
    ],
    // The value has the field of the first form, although the names of the second form are longer.
    [{ anyOf: [TYPED, NAMED] }, { type: 'a', fixed: 1 }, ['/fixed unknown field']],
    [{ anyOf: [NAMED, TYPED] }, { workflow_id: 'a', fixed: 1 }, ['/fixed unknown field']],
    // Neither form has fewer wrong fields: the one with the same kind is meant.
    [{ oneOf: [kindOf('role', 'other'), kindOf('user', 'id')] }, { kind: 'user' }, ['/id is required']],
    [{ oneOf: [kindOf('user', 'id'), kindOf('role', 'other')] }, { kind: 'user' }, ['/id is required']],
    [{ not: { type: 'string' } }, 1, []],
    [{ not: { type: 'string' } }, 'a', ['has a form that is not allowed']],
    [
      { if: { type: 'string' }, [THEN]: { minLength: 2 }, else: { minimum: 2 } },
      'a',
      ['must have at least 2 characters'],
    ],
    [{ if: { type: 'string' }, [THEN]: { minLength: 2 }, else: { minimum: 2 } }, 1, ['must be at least 2']],
    [{ if: { type: 'string' }, [THEN]: { minLength: 2 } }, 1, []],
    [{ if: { type: 'string' }, else: false }, 'a', []],
    [{ $ref: '#/$defs/s', $defs: { s: { type: 'string' } } }, 1, ['must be string']],
    [{ $ref: '#/$defs/none' }, 1, ['the schema has no #/$defs/none']],
    [{ $ref: 1 }, 1, []],
    [{ $ref: '#s', $defs: { s: { $anchor: 's', type: 'string' } } }, 1, ['must be string']],
    [{ $ref: 'b#/$defs/c', $defs: { a: { $id: 'b', $defs: { c: { type: 'string' } } } } }, 1, ['must be string']],
    [{ $ref: 'b', $defs: { a: { $id: 'b', $ref: '#/$defs/c', $defs: { c: false } } } }, 1, ['is not allowed']],
    [{ properties: { a: true }, unevaluatedProperties: false }, { a: 1 }, []],
    [{ properties: { a: true }, unevaluatedProperties: false }, { a: 1, b: 1 }, ['/b unknown field']],
    [{ unevaluatedProperties: { type: 'string' } }, { a: 'x', b: 1 }, ['/b must be string']],
    [{ unevaluatedProperties: false }, [1], []],
    [{ patternProperties: { '^x': true }, unevaluatedProperties: false }, { xa: 1, b: 1 }, ['/b unknown field']],
    [{ additionalProperties: true, unevaluatedProperties: false }, { a: 1 }, []],
    [{ allOf: [{ properties: { a: true } }], unevaluatedProperties: false }, { a: 1, b: 1 }, ['/b unknown field']],
    [{ allOf: [{ unevaluatedProperties: true }], unevaluatedProperties: false }, { a: 1 }, []],
    [
      {
        anyOf: [{ properties: { a: { const: 1 } }, required: ['a'] }, { properties: { b: true } }],
        unevaluatedProperties: false,
      },
      { a: 2, b: 1 },
      ['/a unknown field'],
    ],
    [
      { oneOf: [{ properties: { a: { const: 1 } } }], unevaluatedProperties: false },
      { a: 1, b: 1 },
      ['/b unknown field'],
    ],
    [{ not: { not: { properties: { a: true } } }, unevaluatedProperties: false }, { a: 1 }, ['/a unknown field']],
    [
      { if: { properties: { a: { const: 1 } } }, [THEN]: { properties: { b: true } }, unevaluatedProperties: false },
      { a: 1, b: 1 },
      [],
    ],
    [
      { if: { properties: { a: { const: 1 } } }, else: { properties: { b: true } }, unevaluatedProperties: false },
      { a: 2, b: 1 },
      ['/a unknown field'],
    ],
    [
      { dependentSchemas: { a: { properties: { a: true, b: true } } }, unevaluatedProperties: false },
      { a: 1, b: 1 },
      [],
    ],
    [
      { dependentSchemas: { a: { properties: { b: true } } }, unevaluatedProperties: false },
      { b: 1 },
      ['/b unknown field'],
    ],
    [
      { $ref: '#/$defs/a', unevaluatedProperties: false, $defs: { a: { properties: { a: true } } } },
      { a: 1, b: 1 },
      ['/b unknown field'],
    ],
    // Other errors are reported first: the unevaluated fields are not known before those errors are fixed.
    [{ required: ['c'], unevaluatedProperties: false }, { a: 1 }, ['/c is required']],
    [{ prefixItems: [true], unevaluatedItems: false }, [1], []],
    [{ prefixItems: [true], unevaluatedItems: false }, [1, 2], ['/1 unknown field']],
    [{ items: true, unevaluatedItems: false }, [1], []],
    [{ allOf: [{ unevaluatedItems: true }], unevaluatedItems: false }, [1], []],
    [{ contains: { type: 'string' }, unevaluatedItems: { type: 'number' } }, ['a', 1, null], ['/2 must be number']],
    [{ unevaluatedItems: false }, { a: 1 }, []],
    // A list whose item type an outer schema defines: the outermost anchor of the name decides.
    [
      {
        $id: 'https://example.org/strings',
        $ref: 'list',
        $defs: {
          kind: { $dynamicAnchor: 'kind', type: 'string' },
          list: { $id: 'list', items: { $dynamicRef: '#kind' }, $defs: { any: { $dynamicAnchor: 'kind' } } },
        },
      },
      ['a', 1],
      ['/1 must be string'],
    ],
    [
      {
        $id: 'https://example.org/strings',
        $ref: 'list',
        $defs: {
          kind: { $anchor: 'kind', type: 'string' },
          list: { $id: 'list', items: { $dynamicRef: '#kind' }, $defs: { any: { $dynamicAnchor: 'kind' } } },
        },
      },
      ['a', 1],
      [],
    ],
    [{ pattern: '^\\p{Letter}+$' }, 'Ärger', []],
    [{ pattern: '^\\P{Letter}+$' }, 'Ärger', ['must match the pattern ^\\P{Letter}+$']],
    [{ pattern: '^\\p{Script=Greek}+$' }, 'αβγ', []],
    [{ pattern: '^\\p{gc=Lu}$' }, 'a', ['must match the pattern ^\\p{gc=Lu}$']],
    [{ pattern: '^\\\\p{2}$' }, '\\pp', []],
  ])('of the schema %j: %j is refused with %j', (schema, value, expected) => {
    expect(told(schema, value)).toEqual(expected)
  })

  test('has at most fifty errors', () => {
    expect(told({ items: { type: 'string' } }, Array(80).fill(1))).toHaveLength(50)
    expect(told({ required: Array.from({ length: 80 }, (_, n) => `n${n}`) }, {})).toHaveLength(50)
  })

  test('is refused with the start of a long constant', () => {
    expect(told({ const: 'x'.repeat(300) }, 1)[0]).toHaveLength('must be '.length + 100)
    expect(told({ enum: Array.from({ length: 200 }, (_, n) => `value ${n}`) }, 1)[0]).toHaveLength(
      'must be one of '.length + 200,
    )
  })

  test('has error paths with the given prefix, including the error for too much work', () => {
    expect(validateJson({ type: 'string' }, 1, { path: '/args' })).toEqual([
      { path: '/args', message: 'must be string' },
    ])
    expect(validateJson({ $ref: '#' }, 1, { path: '/args' })[0]?.path).toBe('/args')
  })

  test('that is opaque is not checked, unless an outer schema of the same value has decided to check it', () => {
    const opaque = (value: Json): boolean => isObject(value) && Object.hasOwn(value, '$ref')
    const ref = { $ref: 'x' }
    const issues = (schema: Json, value: Json) => validateJson(schema, value, { opaque }).length
    expect(issues({ type: 'string' }, ref)).toBe(0)
    expect(issues({ properties: { a: { type: 'string' } } }, { a: ref })).toBe(0)
    expect(issues({ items: { type: 'string' } }, [ref, 1])).toBe(1)
    expect(issues({ allOf: [{ type: 'string' }] }, 1)).toBe(1)
  })

  test('can be nested at most 128 deep', () => {
    const schema: Json = { items: { $ref: '#' } }
    const nested = (depth: number): Json => (depth === 0 ? 1 : [nested(depth - 1)])
    expect(told(schema, nested(64))).toEqual([])
    expect(told(schema, nested(65))).toEqual(['checking this takes too much work; simplify the schema or the data'])
  })

  // 100,000 steps: one for each checked value, required name or compared item.
  const names = (count: number): string[] => Array.from({ length: count }, (_, n) => `n${n}`)
  const COSTLY = ['checking this takes too much work; simplify the schema or the data']
  test.each<[string, number, (size: number) => [schema: Json, value: Json]]>([
    ['items', 99_999, (size) => [{ items: true }, Array(size).fill(1)]],
    ['fields', 99_999, (size) => [{}, Object.fromEntries(names(size).map((name) => [name, 1]))]],
    ['required names', 99_999, (size) => [{ required: Array(size).fill('a') }, { a: 1 }]],
    ['allowed values', 99_999, (size) => [{ enum: [...Array(size - 1).fill(1), 2] }, 2]],
    ['unique items', 99_999, (size) => [{ uniqueItems: true }, Array.from({ length: size }, (_, n) => n)]],
  ])('may cost as much as %i %s', (_what, most, make) => {
    // An object costs one more step for each of its own fields.
    const slack = 2
    expect(validateJson(...make(most - slack))).toEqual([])
    expect(told(...make(most + slack))).toEqual(COSTLY)
  })
})

describe('formats', () => {
  test.each<[string, string[], string[]]>([
    [
      'date',
      ['2024-02-29', '0001-01-01', '2026-12-31'],
      [
        '2023-02-29',
        '2026-00-10',
        '2026-13-01',
        '2026-01-00',
        '2026-01-32',
        '26-01-01',
        '2026-1-1',
        'x2026-01-01',
        '2026-01-01x',
      ],
    ],
    ['time', ['10:00:00Z', '23:59:60z', '10:00:00.5+01:00'], ['10:00:00', '24:00:00Z', '10:60:00Z', '10:00Z']],
    [
      'date-time',
      ['2026-01-01T10:00:00Z', '2026-01-01t10:00:00z'],
      ['2026-01-01 10:00:00Z', '2026-02-30T10:00:00Z', '2026-01-01T25:00:00Z', '2026-01-01'],
    ],
    [
      'email',
      ['ann@example.org', 'a.b+c@localhost', `a@${'b'.repeat(63)}.org`],
      [
        'ann',
        'ann@',
        '@example.org',
        'a b@example.org',
        `${'a'.repeat(65)}@example.org`,
        `a@${Array(7).fill('b'.repeat(60)).join('.')}`,
      ],
    ],
    [
      'uuid',
      ['019a0000-0000-7000-8000-000000000000', '019A0000-0000-7000-8000-00000000000F'],
      ['019a', '019a0000-0000-7000-8000-0000000000000', 'g19a0000-0000-7000-8000-000000000000'],
    ],
    [
      'uri',
      ['https://example.org', 'mailto:ann@example.org'],
      ['example.org', '//example.org', 'https://a b', `https://${'a'.repeat(8_192)}`],
    ],
  ])('%s', (format, good, bad) => {
    expect(good.filter((text) => told({ format }, text).length > 0)).toEqual([])
    expect(bad.filter((text) => told({ format }, text).length === 0)).toEqual([])
  })
})

describe('a schema', () => {
  const issues = (schema: Json): string[] => checkSchema(schema).map(({ path, message }) => `${path} ${message}`)
  const numberAt = (keyword: string) => [`/${keyword} must be a number`]
  const wholeAt = (keyword: string) => [`/${keyword} must be a whole number`]
  test.each<[Json, string[]]>([
    [true, []],
    [false, []],
    [{}, []],
    [1, [' must be a JSON Schema: an object, true or false']],
    [[], [' must be a JSON Schema: an object, true or false']],
    [{ type: 'string' }, []],
    [{ type: ['string', 'null'] }, []],
    [{ type: [] }, ['/type must be one of null, boolean, object, array, number, string, integer']],
    [{ type: ['string', 1] }, ['/type must be one of null, boolean, object, array, number, string, integer']],
    [{ type: 'text' }, ['/type must be one of null, boolean, object, array, number, string, integer']],
    [{ minLength: 0 }, []],
    [{ minLength: -1 }, wholeAt('minLength')],
    [{ maxItems: 1.5 }, wholeAt('maxItems')],
    [{ maxProperties: '1' }, wholeAt('maxProperties')],
    [{ minimum: -1.5 }, []],
    [{ minimum: '1' }, numberAt('minimum')],
    [{ multipleOf: 0.5 }, []],
    [{ multipleOf: 0 }, ['/multipleOf must be more than 0']],
    [{ multipleOf: -1 }, ['/multipleOf must be more than 0']],
    [{ enum: [] }, []],
    [{ enum: 1 }, ['/enum must be a list']],
    [{ required: ['a'] }, []],
    [{ required: 'a' }, ['/required must be a list of names']],
    [{ required: [1] }, ['/required must be a list of names']],
    [{ dependentRequired: { a: ['b'] } }, []],
    [{ dependentRequired: { a: 'b' } }, ['/dependentRequired/a must be a list of names']],
    [{ dependentRequired: 1 }, ['/dependentRequired must be an object whose values are lists']],
    [{ pattern: 1 }, ['/pattern must be a text']],
    [{ pattern: 'a' }, []],
    [{ pattern: '(' }, [expect.stringContaining('/pattern not a usable')]],
    [{ patternProperties: { '(': true } }, [expect.stringContaining('/patternProperties/( not a usable')]],
    [{ patternProperties: { a: true } }, []],
    [{ properties: { '(': true } }, []],
    [{ properties: { a: 1 } }, ['/properties/a must be a JSON Schema: an object, true or false']],
    [{ properties: [] }, ['/properties must be an object whose values are schemas']],
    [{ properties: { constructor: true } }, ['/properties/constructor "constructor" is not allowed as a name']],
    [{ items: 1 }, ['/items must be a JSON Schema: an object, true or false']],
    [{ allOf: [] }, ['/allOf must be a list of schemas']],
    [{ allOf: {} }, ['/allOf must be a list of schemas']],
    [{ anyOf: [true, 1] }, ['/anyOf/1 must be a JSON Schema: an object, true or false']],
    [{ $id: 'x' }, []],
    [{ $id: 'https://example.org/a.json#' }, []],
    [{ $id: 'a#b' }, ['/$id must be an address without a fragment']],
    [{ $id: 1 }, ['/$id must be an address without a fragment']],
    [{ $anchor: 'a-b_c.1' }, []],
    [{ $anchor: '1a' }, ['/$anchor must be a name: letters, digits, - _ and .']],
    [{ $dynamicAnchor: 1 }, ['/$dynamicAnchor must be a name: letters, digits, - _ and .']],
    [{ $recursiveRef: '#' }, ['/$recursiveRef this keyword is not supported']],
    [{ $defs: { a: { unevaluatedItems: false } } }, []],
    [{ unevaluatedProperties: 1 }, ['/unevaluatedProperties must be a JSON Schema: an object, true or false']],
    [{ $ref: '#a', $defs: { b: { $anchor: 'a' } } }, []],
    [{ $ref: '#b', $defs: { b: { $anchor: 'a' } } }, ['/$ref the schema has no #b']],
    [{ $dynamicRef: '#a' }, ['/$dynamicRef the schema has no #a']],
    [{ $ref: 'b.json', $defs: { b: { $id: 'b.json' } } }, []],
    // The anchor belongs to another part.
    [{ $ref: '#a', $defs: { b: { $id: 'b.json', $anchor: 'a' } } }, ['/$ref the schema has no #a']],
    [{ $ref: 'b.json#a', $defs: { b: { $id: 'b.json', $anchor: 'a' } } }, []],
    [{ $ref: 'https://example.org/b', $id: 'https://example.org/a', $defs: { b: { $id: 'b' } } }, []],
    [{ $ref: 'b', $defs: { b: { const: { $id: 'b' } } } }, [expect.stringContaining('/$ref only references inside')]],
    [{ $ref: '#' }, []],
    [{ $ref: '#/$defs/a', $defs: { a: true } }, []],
    [{ $ref: '#/$defs/b', $defs: { a: true } }, ['/$ref the schema has no #/$defs/b']],
    [{ $ref: 'a.json' }, ['/$ref only references inside this schema are supported, such as #/$defs/address']],
    [{ $ref: 1 }, ['/$ref must be a text']],
    [{ not: {}, if: {}, [THEN]: {}, else: {}, contains: {}, propertyNames: {}, title: 1 }, []],
  ])('%j is refused with %j', (schema, expected) => {
    expect(issues(schema)).toEqual(expected)
  })

  test('has error paths with the given prefix, and at most fifty errors', () => {
    expect(checkSchema({ type: 'x' }, '/inputs')[0]?.path).toBe('/inputs/type')
    const many = Object.fromEntries(Array.from({ length: 80 }, (_, n) => [`n${n}`, 1]))
    expect(checkSchema({ properties: many })).toHaveLength(50)
  })

  test('can be nested 32 deep and have 5,000 parts, and an excess is reported once', () => {
    const deep = (depth: number): Json => (depth === 0 ? {} : { items: deep(depth - 1) })
    expect([issues(deep(32)), issues(deep(33)).length]).toEqual([[], 1])
    const wide = (count: number): Json => ({ anyOf: Array(count).fill(true) })
    expect([issues(wide(4_999)), issues(wide(5_010)).length]).toEqual([[], 1])
  })

  const root: Json = { $defs: { 'a/b': true, 'c~d': {}, list: [{}, { x: false }], text: 'x', 'e f': true } }
  test.each<[string, Json | undefined]>([
    ['#', root],
    ['#/$defs/a~1b', true],
    ['#/$defs/c~0d', {}],
    ['#/$defs/e%20f', true],
    ['#/$defs/list/0', {}],
    ['#/$defs/list/1/x', false],
    ['#/$defs/list/2', undefined],
    ['#/$defs/list/x', undefined],
    ['#/$defs/list/-1', undefined],
    ['#/$defs/list', undefined],
    ['#/$defs/text', undefined],
    ['#/$defs/text/length', undefined],
    ['#/$defs/none/x', undefined],
    ['#/$defs/%', undefined],
    ['#/toString', undefined],
    ['#$defs', undefined],
    ['$defs', undefined],
  ])('the pointer %s', (pointer, expected) => {
    expect(resolvePointer(root, pointer)).toEqual(expected)
  })
})

describe('JSON', () => {
  test.each<[unknown, boolean]>([
    [{}, true],
    [[], false],
    [null, false],
    ['x', false],
    [undefined, false],
  ])('%j is an object: %s', (value, expected) => {
    expect(isObject(value)).toBe(expected)
  })

  test('is read from own properties only, and names that reach a prototype are refused', () => {
    const value: JsonObject = { a: 1 }
    expect([own(value, 'a'), own(value, 'b'), own(value, 'toString')]).toEqual([1, undefined, undefined])
    expect(['__proto__', 'constructor', 'prototype', 'a'].map(isForbiddenKey)).toEqual([true, true, true, false])
    expect([at('', 'a/b~c'), at('/x', 0)]).toEqual(['/a~1b~0c', '/x/0'])
    expect(() => canonicalText(undefined as unknown as Json)).toThrow('not JSON')
  })

  test.each<[Json, number, number, string]>([
    [1, 0, 1, 'ok'],
    [null, 0, 1, 'ok'],
    [[], 0, 9, 'too_deep'],
    [[], 1, 1, 'ok'],
    [[1], 1, 1, 'too_large'],
    [[1], 1, 2, 'ok'],
    [{ a: { b: 1 } }, 2, 3, 'ok'],
    [{ a: { b: 1 } }, 1, 9, 'too_deep'],
    [{ a: { b: 1 } }, 2, 2, 'too_large'],
    [[[], 1], 1, 9, 'too_deep'],
  ])('%j within a depth of %i and %i values is %s', (value, depth, nodes, expected) => {
    expect(measureJson(value, { depth, nodes })).toBe(expected)
  })

  test.each<[unknown]>([
    [0],
    [9],
    [10],
    [-1],
    [0.5],
    [1e21],
    [true],
    [false],
    [null],
    [''],
    ['abc'],
    ['a"b'],
    ['\n'],
    ['\u001f'],
    ['\\'],
    ['é'],
    [[]],
    [[1]],
    [[1, 'a', null]],
    [{}],
    [{ a: 1 }],
    [{ 'a"': [true, {}], b: '' }],
    [[[], {}, [[]]]],
  ])('the size of %j is the length of its text', (value) => {
    expect(jsonSize(value, 1_000)).toBe(JSON.stringify(value).length)
  })

  test('has the size 0 if it is undefined', () => {
    expect(jsonSize(undefined, 10)).toBe(0)
  })

  test('over the size limit is not counted to its end', () => {
    const seen: number[] = []
    const watched = (n: number) =>
      Object.defineProperty({}, 'x', { enumerable: true, get: () => 'x'.repeat(seen.push(n) + 9) })
    expect(jsonSize([watched(0), watched(1), watched(2)], 20)).toBeGreaterThan(20)
    expect(seen).not.toContain(2)
    const object = Object.fromEntries([0, 1, 2].map((n) => [`k${n}`, watched(n + 10)]))
    expect(jsonSize(object, 20)).toBeGreaterThan(20)
    expect(seen).not.toContain(12)
    expect(jsonSize('x'.repeat(50), 20)).toBe(50)
  })

  test('is measured once if it is large, and each time if it is small or over the limit', () => {
    const large = { text: 'x'.repeat(600) }
    const before = jsonSize(large, 10_000)
    large.text = ''
    expect(jsonSize(large, 10_000)).toBe(before)
    const small = { text: 'x' }
    jsonSize(small, 10_000)
    small.text = 'xyz'
    expect(jsonSize(small, 10_000)).toBe(14)
    const over = { text: 'x'.repeat(600) }
    jsonSize(over, 100)
    over.text = ''
    expect(jsonSize(over, 100)).toBe(11)
  })

  test('has the size that rememberSize stored', () => {
    const value = {}
    rememberSize(value, 511)
    expect(jsonSize(value, 9)).toBe(2)
    rememberSize(value, 512)
    expect(jsonSize(value, 9)).toBe(512)
    expect(() => rememberSize('text', 600)).not.toThrow()
    expect(() => rememberSize(null, 600)).not.toThrow()
  })
})
