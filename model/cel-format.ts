// `"%s has %.2f".format([name, total])`: CEL's text formatting. The result is charged to the budget as it grows.

import { BudgetExceeded, type CelValue, Duration, failure, isMap, Optional, type Run, typeOf } from './cel-runtime.ts'

const MAX_LENGTH = 1024 * 1024
const CLAUSE = /%(?:\.(\d{1,3}))?([A-Za-z%]?)/g

class Builder {
  private readonly run: Run
  private readonly pieces: string[] = []
  private length = 0

  constructor(run: Run) {
    this.run = run
  }

  add(piece: string): void {
    this.length += piece.length
    this.run.spend(1 + (piece.length >> 3))
    if (this.length > MAX_LENGTH) {
      throw new BudgetExceeded('expression_too_large', 'the expression creates a text that is too long')
    }
    this.pieces.push(piece)
  }

  text(): string {
    return this.pieces.join('')
  }
}

export function formatText(run: Run, source: string, args: CelValue[]): string {
  const built = new Builder(run)
  let [at, used] = [0, 0]
  for (const match of source.matchAll(CLAUSE)) {
    built.add(source.slice(at, match.index))
    at = match.index + match[0].length
    if (match[0] === '%%') {
      built.add('%')
      continue
    }
    if (used >= args.length) throw failure('format() has fewer values than placeholders')
    write(built, match[2] as string, match[1] === undefined ? 6 : Number(match[1]), args[used] as CelValue)
    used += 1
  }
  built.add(source.slice(at))
  return built.text()
}

function write(built: Builder, verb: string, precision: number, value: CelValue): void {
  if (verb === 's') show(built, value, 0)
  else built.add(written(verb, precision, value))
}

function written(verb: string, precision: number, value: CelValue): string {
  if (verb === 'f' || verb === 'e') return decimal(verb, precision, value)
  if (verb === 'x' || verb === 'X') return hex(verb, value)
  if (verb === 'b' && typeof value === 'boolean') return value ? '1' : '0'
  const base = { d: 10, b: 2, o: 8 }[verb]
  if (base === undefined) throw failure(`format() does not support "%${verb}"`)
  if (typeof value !== 'number') throw failure(`%${verb} does not take a ${typeOf(value)}`)
  if (!Number.isFinite(value) && verb === 'd') return special(value)
  if (!Number.isInteger(value)) throw failure(`%${verb} takes a whole number`)
  return value.toString(base)
}

const special = (value: number): string => (Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity')

function decimal(verb: string, precision: number, value: CelValue): string {
  if (typeof value === 'string' && ['NaN', 'Infinity', '-Infinity'].includes(value)) return value
  if (typeof value !== 'number') throw failure(`%${verb} does not take a ${typeOf(value)}`)
  if (!Number.isFinite(value)) return special(value)
  if (precision > 100) throw failure('the precision must be at most 100')
  if (verb === 'f') return value.toFixed(precision)
  return value.toExponential(precision).replace(/e([+-])(\d)$/, 'e$10$2')
}

function hex(verb: string, value: CelValue): string {
  let digits: string
  if (typeof value === 'number' && Number.isInteger(value)) digits = value.toString(16)
  else if (typeof value === 'string') {
    digits = Array.from(new TextEncoder().encode(value), (byte) => byte.toString(16).padStart(2, '0')).join('')
  } else throw failure(`%${verb} does not take a ${typeOf(value)}`)
  return verb === 'X' ? digits.toUpperCase() : digits
}

function scalarText(value: CelValue): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : special(value)
  if (value === null || typeof value === 'boolean') return String(value)
  if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z')
  if (value instanceof Duration) return `${value.ms / 1000}s`
  if (value instanceof Optional) throw failure('%s does not take an optional value')
  return undefined
}

function show(built: Builder, value: CelValue, depth: number): void {
  if (depth > 64) throw failure('the value is nested too deeply')
  const text = scalarText(value)
  if (text !== undefined) {
    built.add(text)
    return
  }
  const isList = !isMap(value)
  const items: [string, CelValue][] = isList
    ? (value as CelValue[]).map((item) => ['', item])
    : Object.entries(value as { [key: string]: CelValue }).sort(([a], [b]) => (a < b ? -1 : 1))
  built.add(isList ? '[' : '{')
  for (const [index, [key, item]] of items.entries()) {
    if (index > 0) built.add(', ')
    if (!isList) built.add(`${key}: `)
    show(built, item, depth + 1)
  }
  built.add(isList ? ']' : '}')
}
