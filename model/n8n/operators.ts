import { asTime } from './dates.ts'
import { type Js, NotConvertible } from './js-ast.ts'
import type { Convert } from './methods.ts'
import { celOut, type Out, textOf, truth } from './out.ts'

const OPERATORS: Record<string, string> = {
  '===': '==',
  '!==': '!=',
  '==': '==',
  '!=': '!=',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
  '-': '-',
  '*': '*',
  '/': '/',
  '%': '%',
}

export function unaryOf(operator: string, operand: Js, convert: Convert): Out {
  const of = convert(operand)
  if (operator === '!') return celOut(`!(${truth(of)})`, 'bool')
  if (operator === '-') return celOut(`-${of.cel}`, 'number')
  if (operator === '+') return of.type === 'number' ? of : celOut(`double(${of.cel})`, 'number')
  throw new NotConvertible('typeof has no counterpart')
}

export function binaryOf(operator: string, left: Js, right: Js, convert: Convert): Out {
  if (operator === '??') return orElse(left, right, '[null]', convert)
  if (operator === '||' || operator === '&&') return logical(operator, left, right, convert)
  if (left.kind === 'unary' && left.operator === 'typeof') return typed(operator, left.operand, right, convert)
  const [a, b] = [convert(left), convert(right)]
  if (operator === '+') return added(a, b)
  const times = a.type === 'time' || b.type === 'time'
  if (times && operator === '-') return celOut(`${asTime(a).cel}.difference(${asTime(b).cel}, "millisecond")`, 'number')
  if (times && /[<>]/.test(operator)) return celOut(`(${asTime(a).cel} ${operator} ${asTime(b).cel})`, 'bool')
  const ours = OPERATORS[operator]
  if (ours === undefined) throw new NotConvertible(`the operator ${operator} has no counterpart`)
  return celOut(`(${a.cel} ${ours} ${b.cel})`, /^[-*/%]$/.test(ours) ? 'number' : 'bool')
}

function typed(operator: string, operand: Js, right: Js, convert: Convert): Out {
  const names: Record<string, string> = { string: 'string', number: 'double', boolean: 'bool' }
  const name = right.kind === 'literal' ? String(right.value) : ''
  const of = convert(operand)
  const isEqual = operator.startsWith('=')
  if (name === 'undefined') return celOut(`(${of.cel} ${isEqual ? '==' : '!='} null)`, 'bool')
  if (names[name] === undefined) throw new NotConvertible('typeof has no counterpart')
  return celOut(`(type(${of.cel}) ${isEqual ? '==' : '!='} ${names[name]})`, 'bool')
}

function logical(operator: string, left: Js, right: Js, convert: Convert): Out {
  const [a, b] = [convert(left), convert(right)]
  if (a.type === 'bool' && b.type === 'bool') return celOut(`(${a.cel} ${operator} ${b.cel})`, 'bool')
  if (operator === '||') return orElse(left, right, '[null, false, 0, ""]', convert)
  if (a.type === 'bool') return celOut(`(${a.cel} ? ${b.cel} : false)`)
  return celOut(`cel.bind(v, ${a.cel}, v in [null, false, 0, ""] ? v : ${b.cel})`)
}

/** Returns the right operand if the left operand is one of `empty`. */
export function orElse(left: Js, right: Js, empty: string, convert: Convert): Out {
  const [a, b] = [convert(left), convert(right)]
  const type = a.type === b.type ? a.type : 'any'
  if (empty === '[null]' && a.path && a.path.length > 1)
    return celOut(a.cel.replace(/\.orValue\(null\)$/, `.orElse(${b.cel})`), type)
  const text = `cel.bind(v, ${a.cel}, v in ${empty} ? ${b.cel} : v)`
  return { ...celOut(text, b.type === 'text' && a.type === 'any' ? 'any' : type), ...(a.holds && { holds: a.holds }) }
}

function added(a: Out, b: Out): Out {
  if (a.type === 'text' || b.type === 'text') return celOut(`${textOf(a)} + ${textOf(b)}`, 'text')
  return celOut(`(${a.cel} + ${b.cel})`, a.type === 'number' && b.type === 'number' ? 'number' : 'any')
}
