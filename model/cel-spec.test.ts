import { readFileSync } from 'node:fs'
import { tests } from '@bufbuild/cel-spec/testdata/conformance.js'
import { expect, test } from 'vitest'
import { compileCel } from './cel.ts'
import { type CelValue, Duration, Optional, Run } from './cel-runtime.ts'
import { ExpressionFailure } from './expression-failure.ts'

// The conformance tests of the CEL specification. Tests of features that our expressions do not have are skipped:
// protocol buffer messages and enums, bytes, and results that only a type checker gives. docs/expressions.md lists the
// tests that fail, and the figure.

type Original = {
  name?: string
  expr: string
  value?: Wire
  evalError?: unknown
  anyEvalErrors?: unknown
  bindings?: Record<string, { value?: Wire }>
  container?: string
  typedResult?: { result?: Wire }
  checkOnly?: boolean
}
type Wire = Record<string, unknown>
type Suite = { name: string; suites?: Suite[]; tests?: { original: Original }[] }

const WHOLE_SUITES_ASIDE = new Set(['proto2', 'proto2_ext', 'proto3', 'enums', 'block_ext'])
const NOT_JSON =
  /TestAllTypes|google\.protobuf|\bproto\.|GlobalEnum|bytes|(?<![A-Za-z0-9_])[bB][rR]?['"]|[rR]b['"]|base64/

const isAside = ({ expr, value, bindings, container, checkOnly, typedResult }: Original): boolean => {
  const wires = JSON.stringify([value, bindings, typedResult])
  const messages = wires.replace(/"@type":"type.googleapis.com\/google.protobuf.(Duration|Timestamp)"/g, '')
  return (
    checkOnly === true ||
    container !== undefined ||
    NOT_JSON.test(expr) ||
    /"@type"|bytesValue|enumValue|TestAllTypes/.test(messages)
  )
}

class Unlike extends Error {}

function read(wire: Wire): CelValue {
  const [kind] = Object.keys(wire)
  const given = wire[kind as string]
  switch (kind) {
    case 'int64Value':
    case 'uint64Value': {
      const number = Number(given)
      if (!Number.isSafeInteger(number)) throw new Unlike('64 bits')
      return number
    }
    case 'doubleValue':
      return Number(given)
    case 'stringValue':
      return given as string
    case 'boolValue':
      return given as boolean
    case 'nullValue':
      return null
    case 'typeValue':
      return ({ int: 'double', uint: 'double' } as Record<string, string>)[given as string] ?? (given as string)
    case 'listValue':
      return ((given as { values?: Wire[] }).values ?? []).map(read)
    case 'mapValue': {
      const entries = (given as { entries?: { key: Wire; value: Wire }[] }).entries ?? []
      return Object.fromEntries(entries.map(({ key, value }) => [String(read(key)), read(value)]))
    }
    case 'objectValue': {
      const { '@type': type, value } = given as { '@type': string; value: string }
      return type.endsWith('Duration') ? new Duration(Number(value.slice(0, -1)) * 1000) : new Date(value)
    }
    default:
      throw new Unlike(`a value of kind ${kind}`)
  }
}

function outcome({ expr, bindings = {} }: Original): CelValue | 'failed' {
  try {
    const variables = Object.fromEntries(
      Object.entries(bindings).map(([name, { value }]) => [name, read(value as Wire)]),
    )
    const result = compileCel(expr, new Set(Object.keys(variables))).step(
      new Run(variables, { steps: 1_000_000, size: 1_000_000 }),
    )
    return result instanceof Optional ? (result.value ?? null) : result
  } catch (error) {
    if (error instanceof ExpressionFailure || error instanceof Unlike) return 'failed'
    throw error
  }
}

const same = (a: CelValue, b: CelValue): boolean => {
  try {
    expect(a).toEqual(b)
    return true
  } catch {
    return Object.is(a, b) || (a === 0 && b === 0)
  }
}

function holds(original: Original): boolean {
  const result = outcome(original)
  if (original.evalError || original.anyEvalErrors) return result === 'failed'
  const expected = original.value ?? original.typedResult?.result
  if (result === 'failed') return false
  try {
    return same(result, expected === undefined ? true : read(expected))
  } catch (error) {
    if (error instanceof Unlike) return false
    throw error
  }
}

const collect = (suite: Suite): Original[] => [
  ...(suite.tests ?? []).map(({ original }) => original),
  ...(suite.suites ?? []).flatMap(collect),
]

/** Suites in which some tests fail; all tests of the other suites pass. */
const EXPECTED = {
  basic: '37 of 40',
  comparisons: '256 of 307',
  conversions: '78 of 99',
  fields: '45 of 52',
  fp_math: '28 of 30',
  integer_math: '58 of 64',
  macros: '43 of 44',
  macros2: '45 of 46',
  math_ext: '161 of 198',
  namespace: '0 of 1',
  optionals: '58 of 59',
  parse: '112 of 129',
  string_ext: '194 of 195',
  timestamps: '65 of 74',
}

test('the conformance tests of CEL pass, except for those that docs/expressions.md lists', () => {
  const figures: Record<string, string> = {}
  let [tried, held] = [0, 0]
  for (const suite of (tests as unknown as Suite).suites ?? []) {
    if (WHOLE_SUITES_ASIDE.has(suite.name)) continue
    const concerned = collect(suite).filter((original) => !isAside(original))
    const passing = concerned.filter(holds).length
    if (passing < concerned.length) figures[suite.name] = `${passing} of ${concerned.length}`
    tried += concerned.length
    held += passing
  }
  expect(figures).toEqual(EXPECTED)
  const documented = readFileSync(new URL('../docs/expressions.md', import.meta.url), 'utf8')
  expect(documented).toContain(`${held.toLocaleString('en')} of ${tried.toLocaleString('en')} hold`)
})
