import { describe, expect, test } from 'vitest'
import type { Json } from '../definition.ts'
import { resolveValue } from '../expressions.ts'
import { NotConvertible } from './js-ast.ts'
import { celOut, pathOut, type View } from './out.ts'
import type { Scope } from './scope.ts'
import { parameterValue } from './templates.ts'

// Each n8n expression is converted and then evaluated by our own evaluator: the tests compare values, not texts.

const item = {
  name: 'Ann Lee',
  price: 12.5,
  count: 3,
  tags: ['a', 'b', 'b'],
  empty: '',
  nothing: null,
  yes: true,
  inner: { deep: [{ x: 1 }, { x: 2 }] },
  'first name': 'Ann',
  when: '2026-03-05T14:00:00Z',
  json: '{"a": 1}',
}

const viewOf = (path: (string | number)[]): View => {
  const one = pathOut(path)
  return { one, list: celOut(`[${one.cel}]`, 'list'), paired: () => one, ran: celOut('true', 'bool') }
}

const remarks: string[] = []
const scope: Scope = {
  input: viewOf(['item']),
  index: pathOut(['index'], 'number'),
  workflowName: 'Orders',
  remark: (why) => void remarks.push(why),
  node: (name) => {
    if (name !== 'Fetch It') throw new NotConvertible(`there is no node "${name}"`)
    return viewOf(['nodes', 'fetch_it', 'output'])
  },
}

const run = (expression: string): Json =>
  resolveValue(parameterValue(expression, scope), {
    input: {},
    nodes: { fetch_it: { output: { id: 7, rows: [{ v: 1 }, { v: 2 }] } } },
    execution: {},
    vars: { KEY: 'value' },
    item,
    index: 4,
  } as never) as Json

const values: [expression: string, value: Json][] = [
  ['plain text', 'plain text'],
  ['=plain', 'plain'],
  ['={{ $json.name }}', 'Ann Lee'],
  ['={{ $json["first name"] }}', 'Ann'],
  ["={{ $json['first name'] }}", 'Ann'],
  ['={{ $json.inner.deep[1].x }}', 2],
  ['={{ $json.absent.deeper }}', null],
  ['={{ $json?.inner?.deep }}', [{ x: 1 }, { x: 2 }]],
  ['=Hello {{ $json.name }}!', 'Hello Ann Lee!'],
  ['=Hello {{ $json.absent }}!', 'Hello !'],
  ['={{ $json.name }} and {{ $json.count }}', 'Ann Lee and 3'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of an expression.
  ['={{ `${$json.name}: ${$json.price}` }}', 'Ann Lee: 12.5'],
  ['={{ $input.item.json.name }}', 'Ann Lee'],
  ['={{ $input.first().json.name }}', 'Ann Lee'],
  ['={{ $input.all().length }}', 1],
  ['={{ $input.all().map(item => item.json.name).join(", ") }}', 'Ann Lee'],
  ['={{ $("Fetch It").item.json.id }}', 7],
  ["={{ $('Fetch It').first().json.rows[0].v }}", 1],
  ["={{ $('Fetch It').all().map(i => i.json.id) }}", [7]],
  ['={{ $node["Fetch It"].json.id }}', 7],
  ['={{ $node["Fetch It"].json["id"] }}', 7],
  ['={{ $items("Fetch It")[0].json.id }}', 7],
  ['={{ $itemIndex }}', 4],
  ['={{ $vars.KEY }}', 'value'],
  ['={{ $workflow.name }}', 'Orders'],
  ['={{ $json.price * 2 + 1 }}', 26],
  ['={{ ($json.count + 1) % 2 }}', 0],
  ['={{ $json.count > 2 && $json.price < 20 }}', true],
  ['={{ !$json.empty }}', true],
  ['={{ $json.empty || "none" }}', 'none'],
  ['={{ $json.absent ?? "none" }}', 'none'],
  ['={{ $json.name || "none" }}', 'Ann Lee'],
  ['={{ $json.yes ? "y" : "n" }}', 'y'],
  ['={{ $json.empty ? "y" : "n" }}', 'n'],
  ['={{ $json.name === "Ann Lee" }}', true],
  ['={{ $if($json.yes, 1, 2) }}', 1],
  ['={{ $json.name.toUpperCase() }}', 'ANN LEE'],
  ['={{ $json.name.split(" ")[0] }}', 'Ann'],
  ['={{ $json.name.replace("Lee", "Li") }}', 'Ann Li'],
  ['={{ $json.name.replace(/e/g, "i") }}', 'Ann Lii'],
  ['={{ $json.name.replace(/(\\w+) (\\w+)/, "$2 $1") }}', 'Lee Ann'],
  ['={{ $json.name.includes("Ann") }}', true],
  ['={{ $json.tags.includes("b") }}', true],
  ['={{ $json.tags.length }}', 3],
  ['={{ $json.tags.join("-") }}', 'a-b-b'],
  ['={{ $json.tags.filter(t => t !== "b") }}', ['a']],
  ['={{ $json.inner.deep.map(d => d.x * 10) }}', [10, 20]],
  ['={{ $json.inner.deep.find(d => d.x === 2).x }}', 2],
  ['={{ $json.inner.deep.some(d => d.x > 1) }}', true],
  ['={{ $json.tags.unique() }}', ['a', 'b']],
  ['={{ $json.tags.first() }}', 'a'],
  ['={{ $json.name.slice(0, 3) }}', 'Ann'],
  ['={{ $json.name.slice(-3) }}', 'Lee'],
  ['={{ $json.name.substring(4) }}', 'Lee'],
  ['={{ $json.name.match(/L\\w+/)[0] }}', 'Lee'],
  ['={{ /^Ann/.test($json.name) }}', true],
  ['={{ $json.price.toFixed(2) }}', '12.50'],
  ['={{ Math.round($json.price) }}', 13],
  ['={{ Number("3") + 1 }}', 4],
  ['={{ parseInt("7") }}', 7],
  ['={{ $json.count.toString() + "x" }}', '3x'],
  ['={{ "n" + $json.count }}', 'n3'],
  ['={{ JSON.stringify($json.tags) }}', '["a","b","b"]'],
  ['={{ JSON.parse($json.json).a }}', 1],
  ['={{ Object.keys($json.inner) }}', ['deep']],
  ['={{ encodeURIComponent("a b") }}', 'a%20b'],
  ['={{ {a: $json.count, b: [1, 2]} }}', { a: 3, b: [1, 2] }],
  ['={{ $json.empty.isEmpty() }}', true],
  ['={{ DateTime.fromISO($json.when).toFormat("yyyy-MM-dd") }}', '2026-03-05'],
  ['={{ DateTime.fromISO($json.when).plus({days: 1}).toISODate() }}', '2026-03-06'],
  ['={{ new Date($json.when).getTime() }}', 1772719200000],
  ['={{ $json.when.toDateTime().minus(1, "month").format("dd LLL yyyy") }}', '05 Feb 2026'],
  ['={{ typeof $json.absent === "undefined" }}', true],
  ['={{ $json.name }};', 'Ann Lee;'],
]

const refused: [expression: string, why: string][] = [
  ['={{ $fromAI("x") }}', '$fromAI'],
  ['={{ $json.name.replace(/(?=x)/, "") }}', 'look-around'],
  ['={{ (() => { const a = 1; return a })() }}', 'statements'],
  ['={{ $json.a = 1 }}', 'operator ='],
  ['={{ [...$json.tags] }}', '"..."'],
  ['={{ $("Nobody").item.json.x }}', 'there is no node'],
  ['={{ $json.constructor }}', 'cannot be read'],
  ['={{ $json.__proto__.x }}', 'cannot be read'],
  ['={{ $json.tags.reduce((a, b) => a + b) }}', 'reduce()'],
  ['={{ "never ends }}', 'not closed'],
  ['={{ window.location }}', 'not known'],
  [`={{ ${'('.repeat(200)}1${')'.repeat(200)} }}`, 'nested too deeply'],
  [`={{ ${'!'.repeat(500)}1 }}`, 'nested too deeply'],
  [`={{ "${'x'.repeat(30_000)}" }}`, 'longer than'],
]

describe('expressions of n8n', () => {
  test.each(values)('%s', (expression, value) => {
    expect(run(expression)).toEqual(value)
  })

  test.each(refused)('refuses %s', (expression, why) => {
    expect(() => run(expression)).toThrow(NotConvertible)
    expect(() => run(expression)).toThrow(why)
  })

  test('names of the environment become variables, with a remark', () => {
    expect(parameterValue('={{ $env.KEY }}', scope)).toEqual({ $ref: 'vars.KEY' })
    expect(remarks.at(-1)).toContain('variable KEY')
  })

  test('a plain path is a reference, not CEL', () => {
    expect(parameterValue('={{ $json.a["b c"][0] }}', scope)).toEqual({ $ref: 'item.a["b c"][0]' })
  })
})
