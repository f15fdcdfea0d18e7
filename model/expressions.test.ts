import { describe, expect, it } from 'vitest'
import type { Json } from './definition.ts'
import {
  checkExpression,
  ExpressionFailure,
  evaluateCondition,
  evaluateConditionOver,
  resolveArgs,
  resolveValue,
  type Scope,
} from './expressions.ts'

const scope: Scope = {
  input: { x: 7, name: 'Ann', tags: ['a', 'b'], nested: { deep: [{ id: 1 }] }, 'odd key': true, none: null },
  nodes: { fetch: { output: { items: [{ id: 'q', price: 2.5 }] } }, skipped: { output: null } },
  execution: { execution_id: 'exe_1', started_at: '2026-01-01T00:00:00Z' },
}
const cel = (text: string, over: Partial<Scope> = {}): Json => resolveValue({ $cel: text }, { ...scope, ...over })
const codeOf = (work: () => unknown): string => {
  try {
    work()
  } catch (error) {
    if (error instanceof ExpressionFailure) return error.code
    throw error
  }
  return 'no failure'
}

describe('references', () => {
  it('follow names, indexes and quoted keys', () => {
    expect(resolveValue({ $ref: 'nodes.fetch.output.items[0].id' }, scope)).toBe('q')
    expect(resolveValue({ a: [{ $ref: 'input["odd key"]' }], b: 'plain' }, scope)).toEqual({ a: [true], b: 'plain' })
  })

  it('to absent data are null, and a reference through a text fails', () => {
    expect(resolveValue({ $ref: 'input.absent.further[3]' }, scope)).toBe(null)
    expect(resolveValue({ $ref: 'nodes.skipped.output.x' }, scope)).toBe(null)
    expect(resolveValue({ $ref: 'input.tags[9]' }, scope)).toBe(null)
    expect(codeOf(() => resolveValue({ $ref: 'input.name.length' }, scope))).toBe('reference_failed')
  })

  it.each([
    'input.__proto__',
    'input.constructor.constructor',
    'input["__proto__"]',
    'input["const\\u0072uctor"]',
    'nodes.fetch.output["prototype"]',
    'constructor',
    'input.toString()',
    'input[`x`]',
    `input.$${'{x}'}`,
    'process.env',
    'globalThis',
    '',
    '.',
    'input..x',
    'input[-1]',
    `input${'.a'.repeat(600)}`,
  ])('refuses %j', (text) => {
    expect(codeOf(() => resolveValue({ $ref: text }, scope))).toBe('reference_invalid')
  })

  it('never read inherited properties of an object', () => {
    for (const name of ['toString', 'hasOwnProperty', '__defineGetter__', 'valueOf']) {
      expect(resolveValue({ $ref: `input.${name}` }, scope)).toBe(null)
    }
    expect(resolveValue({ $ref: 'input.tags.length' }, scope)).toBe(null)
  })
})

describe('values', () => {
  it('leave plain text and external data unchanged', () => {
    const input = { text: '{{1+1}} <%= 2 %> {"$cel":"1+1"}', object: { $cel: '1 + 1' } }
    expect(
      resolveValue({ a: { $ref: 'input.text' }, b: { $ref: 'input.object' }, c: '{{1+1}}' }, { ...scope, input }),
    ).toEqual({
      a: input.text,
      b: input.object,
      c: '{{1+1}}',
    })
  })

  it('leave JSON Schema pointers unchanged', () => {
    expect(resolveValue({ $ref: '#/$defs/address' }, scope)).toEqual({ $ref: '#/$defs/address' })
  })

  it('keep literal keys such as __proto__ as data', () => {
    const value = JSON.parse('{"__proto__": {"polluted": true}}')
    const resolved = resolveValue(value, scope) as Record<string, unknown>
    expect(Object.getPrototypeOf(resolved)).toBe(Object.prototype)
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    expect(resolved.polluted).toBeUndefined()
  })

  it('leave arguments that a control node evaluates later', () => {
    const cases = [{ port: 'big', when: { $cel: 'input.x > 5' } }]
    expect(resolveArgs({ type: 'branch', args: { cases } }, scope)).toEqual({ cases })
    const body = { nodes: [{ id: 'n', type: 'set', args: { values: { a: { $ref: 'item' } } } }], edges: [] }
    expect(resolveArgs({ type: 'map', args: { items: { $ref: 'input.tags' }, body } }, scope)).toEqual({
      items: ['a', 'b'],
      body,
    })
    const quorum = { $cel: 'approvals.total > 1' }
    expect(
      resolveArgs({ type: 'approval', args: { title: { $ref: 'input.name' }, policy: { quorum } } }, scope),
    ).toEqual({
      title: 'Ann',
      policy: { quorum },
    })
  })

  it('contain a limited number of expressions', () => {
    const many = Array.from({ length: 1_001 }, () => ({ $ref: 'input' }))
    expect(codeOf(() => resolveValue(many, scope))).toBe('expression_too_large')
  })
})

describe('CEL', () => {
  it.each<[string, Json]>([
    ['input.x > 5', true],
    ['input.x + 1', 8],
    ['input.x / 2', 3.5],
    ['int(input.x / 2)', 3],
    ['input.x % 4 == 3', true],
    ['1 == 1.0', true],
    ['nodes.fetch.output.items[0].price * 2', 5],
    ['input.name + "!"', 'Ann!'],
    ['string(input.x) + "x"', '7x'],
    ['input.tags.map(t, t + t)', ['aa', 'bb']],
    ['input.tags.filter(t, t != "a")', ['b']],
    ['input.tags.exists(t, t == "b") && input.tags.all(t, size(t) == 1)', true],
    ['input.tags.exists_one(t, t == "b")', true],
    ['[1, 2, 3].map(n, n > 1, n * 10)', [20, 30]],
    ['{"a": input.x, "b": [null, true]}', { a: 7, b: [null, true] }],
    ['"a" in input.tags && "x" in input && !("y" in input)', true],
    ['has(input.x) && !has(input.absent)', true],
    ['has(input.none)', true],
    ['has(input.absent) ? input.absent : "default"', 'default'],
    ['input.x > 100 || input.name.startsWith("A")', true],
    ['false && input.absent', false],
    ['input.absent > 3 || true', true],
    ['"a-b-c".split("-").join("+")', 'a+b+c'],
    ['"hello".substring(1, 3)', 'el'],
    ['"abc".replace("b", "$&")', 'a$&c'],
    ['"abc123".matches("^[a-c]+\\\\d{3}$")', true],
    ['size("😀")', 1],
    ['timestamp("2026-01-01T00:00:00Z") + duration("1h30m")', '2026-01-01T01:30:00.000Z'],
    ['timestamp("2026-03-01T00:00:00Z") > timestamp(execution.started_at)', true],
    ['timestamp("2026-03-01T10:00:00Z").getHours()', 10],
    ['math.greatest(1, input.x, 3)', 7],
    ['cel.bind(total, input.x * 2, total + total)', 28],
    ['type(input.x) == double && type("") == string', true],
    ['input.nested == {"deep": [{"id": 1}]}', true],
    ['"x".contains("y") ? 1 : -1', -1],
  ])('%s', (text, expected) => {
    expect(cel(text)).toEqual(expected)
  })

  it('sees item and index only inside a map', () => {
    expect(cel('string(index) + item', { item: 'z', index: 4 })).toBe('4z')
    expect(codeOf(() => cel('item'))).toBe('expression_failed')
  })

  it('fails with a clear error on absent data and wrong types', () => {
    for (const text of [
      'input.absent',
      'input.x + "a"',
      'input.name > 3',
      '1 / 0',
      'input.tags[7]',
      'input.name.x',
      'size(1)',
    ]) {
      expect(codeOf(() => cel(text))).toBe('expression_failed')
    }
    expect(codeOf(() => evaluateCondition('input.x', scope))).toBe('condition_not_boolean')
    expect(codeOf(() => cel('double("1e999")'))).toBe('expression_failed')
  })

  it('reports errors before anything runs', () => {
    expect(checkExpression('input.x >')).toContain('ends too early')
    expect(checkExpression('inptu.x > 1')).toContain('unknown name "inptu"')
    expect(checkExpression('frobnicate(1)')).toContain('unknown function frobnicate()')
    expect(checkExpression('size(1, 2)')).toContain('wrong number of arguments')
    expect(checkExpression('9007199254740993')).toContain('exactly')
    expect(checkExpression('input.x > 5')).toBe(null)
  })

  it('evaluates a quorum over its own names only', () => {
    const votes = { approvals: { human: 2, agent: 1, total: 3 }, rejections: { human: 0, agent: 0, total: 0 } }
    expect(evaluateConditionOver('approvals.human >= 2 && rejections.total == 0', votes)).toBe(true)
    expect(codeOf(() => evaluateConditionOver('input.x > 1', votes))).toBe('expression_invalid')
  })
})

describe('attacks on CEL', () => {
  const untouched = () => {
    expect(Object.keys(Object.prototype)).toEqual([])
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  }

  it.each([
    'input.constructor',
    'input.constructor.constructor("return process")()',
    'input.__proto__.polluted',
    'has(input.__proto__)',
    'process.exit(1)',
    'globalThis',
    'this',
    'require("fs")',
    'eval("1")',
    'Function("return 1")()',
    '"".constructor',
    'input.tags.constructor',
    'import("fs")',
    'google.protobuf.Duration',
    'cel',
    'b"abc"',
    '`x`',
    'input.map(input, input)',
  ])('does not compile %s', (text) => {
    expect(codeOf(() => cel(text))).toBe('expression_invalid')
    untouched()
  })

  it.each([
    'input["constructor"]',
    'input["__pro" + "to__"]',
    '{"__proto__": {"polluted": true}}',
    '{"const" + "ructor": 1}',
    '"toString" in input ? 1 : input["toString"]',
    'input.tags["length"]',
  ])('reaches nothing with %s', (text) => {
    expect(codeOf(() => cel(text))).toBe('expression_failed')
    untouched()
  })

  const doubling = (count: number, step: (name: string) => string, first: string) =>
    `${Array.from({ length: count }, (_, i) => `cel.bind(v${i}, ${i === 0 ? first : step(`v${i - 1}`)}, `).join('')}v${count - 1}${')'.repeat(count)}`
  const list = 'input.list'
  const bombs: Record<string, string> = {
    'nested comprehensions': `${list}.map(a, ${list}.map(b, ${list}.map(c, a + b + c)))`,
    'nested quantifiers after an ignored failure': `${list}.all(a, input.no || ${list}.all(b, input.no || ${list}.all(c, true)))`,
    'text doubling': doubling(25, (name) => `${name} + ${name}`, '"xxxxxxxx"'),
    'list doubling': doubling(25, (name) => `${name} + ${name}`, '[1]'),
    'shared lists': doubling(24, (name) => `[${name}, ${name}]`, '[1]'),
    'equality of shared lists': `cel.bind(l, ${doubling(22, (name) => `[${name}, ${name}]`, '[1]')}, cel.bind(m, ${doubling(22, (name) => `[${name}, ${name}]`, '[1]')}, l == m))`,
    'comparing long texts': `${list}.all(a, ${list}.all(b, input.long != input.other))`,
    'searching a long text': `${list}.exists(a, input.long.contains(input.other.substring(0, 50000) + "b"))`,
    'replacing that grows the text': `${doubling(8, (name) => `${name}.replace("a", "aaaaaaaaaa")`, '"aaaaaaaaaa"')}`,
    'long text against many patterns': `${list}.exists(a, input.long.matches("(x+x+)+y"))`,
    'repeated splitting': `${list}.map(a, input.long.split(""))`,
  }
  const input = {
    list: Array.from({ length: 1_000 }, (_, i) => i),
    long: 'a'.repeat(200_000),
    other: `${'a'.repeat(199_999)}b`,
  }

  it.each(Object.entries(bombs))('ends: %s', (_name, text) => {
    expect(codeOf(() => cel(text, { input }))).toMatch(/^expression_(too_costly|too_large|invalid)$/)
  })

  it('counts costly values of one node together', () => {
    const costly = { $cel: 'input.list.map(a, a + 1).size() == 0 || input.list.all(a, a >= 0)' }
    expect(resolveValue([costly], { ...scope, input })).toEqual([true])
    expect(codeOf(() => resolveValue(Array(900).fill(costly), { ...scope, input }))).toBe('expression_too_costly')
  })

  it.each([
    ['a long expression', `1${' + 1'.repeat(3_000)}`],
    ['many brackets', `${'('.repeat(2_000)}1${')'.repeat(2_000)}`],
    ['many unary operators', `${'!'.repeat(4_000)}true`],
    ['many unary operators with spaces', `${'- '.repeat(2_000)}1`],
    ['a long chain', `input${'.a'.repeat(2_000)}`],
    ['a deep left tree', `1${' + 1'.repeat(900)}`],
    ['a large list', `[${'1,'.repeat(1_500)}1]`],
    ['an enormous repetition', '"a".matches("((a{100}){100}){100}")'],
    ['a look-ahead', '"a".matches("(?=a)")'],
  ])('refuses %s', (_name, text) => {
    expect(codeOf(() => cel(text))).toMatch(/^expression_(invalid|failed)$/)
  })
})
