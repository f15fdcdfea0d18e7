import type { Json } from '#model/definition'
import { isObject } from '#model/json'
import { exactNumber } from './common.ts'

const EXACT = /^(U?Int(64|128|256)|Decimal)/

/** Returns the arguments of a type: of `Map(String, Decimal(9, 2))` these are `String` and `Decimal(9, 2)`. */
function argumentsOf(type: string): string[] {
  const found: string[] = []
  let depth = 0
  let from = type.indexOf('(') + 1
  for (let at = from; at < type.length; at++) {
    if (type[at] === '(') depth += 1
    if (type[at] === ')') depth -= 1
    if (depth < 0 || (depth === 0 && type[at] === ',')) {
      found.push(type.slice(from, at).trim())
      from = at + 1
    }
    if (depth < 0) return found
  }
  return found
}

/**
 * Reads the integers and decimals in a cell of this type. ClickHouse quotes those that a double may not represent, also
 * inside of nullable values, lists, maps and tuples.
 */
export function exactIn(type: string, cell: Json): Json {
  if (typeof cell === 'string' && EXACT.test(type)) return exactNumber(cell)
  const outer = /^(\w+)\(/.exec(type)?.[1]
  const isComposite = Array.isArray(cell) || isObject(cell)
  switch (outer) {
    case 'Nullable':
    case 'LowCardinality':
    case 'SimpleAggregateFunction':
      return exactIn(argumentsOf(type).at(-1) ?? '', cell)
    case 'Array':
    case 'Map': {
      if (!isComposite) return cell
      const inner = argumentsOf(type).at(-1) ?? ''
      return mapCells(cell, () => inner)
    }
    case 'Tuple': {
      if (!isComposite) return cell
      // The elements of a tuple may have names: `Tuple(id UInt64, sum Decimal(9, 2))`.
      const inner = argumentsOf(type).map((one) => /^(?:`.*`|\w+) (\w+(?:\(.*)?)$/.exec(one)?.[1] ?? one)
      return mapCells(cell, (at) => inner[at] ?? '')
    }
    default:
      return cell
  }
}

function mapCells(cell: Json[] | Record<string, Json>, typeAt: (at: number) => string): Json {
  if (Array.isArray(cell)) return cell.map((one, at) => exactIn(typeAt(at), one))
  return Object.fromEntries(Object.entries(cell).map(([key, one], at) => [key, exactIn(typeAt(at), one)]))
}
