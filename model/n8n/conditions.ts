import type { Json, JsonObject } from '../definition.ts'
import { isObject } from '../json.ts'
import { asTime } from './dates.ts'
import { NotConvertible } from './js-ast.ts'
import { celOut, type Out, quote, textOf, truth } from './out.ts'
import type { Scope } from './scope.ts'
import type { Step } from './step.ts'

// Converts the conditions of If, Filter and Switch, in the older and the newer form, to CEL.

const COMPARE: Record<string, string> = {
  ...{ equals: '==', equal: '==', notEquals: '!=', notEqual: '!=', larger: '>', gt: '>', smaller: '<', lt: '<' },
  ...{
    largerEqual: '>=',
    gte: '>=',
    smallerEqual: '<=',
    lte: '<=',
    after: '>',
    before: '<',
    afterOrEquals: '>=',
    beforeOrEquals: '<=',
  },
}

/** Returns a number for a numeric text. */
const asNumber = (of: Out, raw: Json | undefined): Out =>
  typeof raw === 'string' && !raw.startsWith('=') && raw.trim() !== '' && Number.isFinite(Number(raw))
    ? celOut(String(Number(raw)), 'number')
    : of.type === 'text'
      ? celOut(`double(${of.cel})`, 'number')
      : of

function compared(
  type: string,
  operator: string,
  left: Out,
  right: Out,
  raw: { left?: Json | undefined; right?: Json | undefined },
  ignoreCase: boolean,
): string {
  if (type === 'number') return `${asNumber(left, raw.left).cel} ${operator} ${asNumber(right, raw.right).cel}`
  if (type === 'dateTime') return `${asTime(left).cel} ${operator} ${asTime(right).cel}`
  if (type === 'boolean') {
    const bool = (of: Out): Out =>
      of.cel === '"true"' || of.cel === '"false"' ? celOut(of.cel.slice(1, -1), 'bool') : of
    return `${bool(left).cel} ${operator} ${bool(right).cel}`
  }
  if (type === 'string' && ignoreCase) return `${textOf(left)}.lower() ${operator} ${textOf(right)}.lower()`
  if (type === 'string' && right.type === 'text' && left.path) return `${textOf(left)} ${operator} ${textOf(right)}`
  return `${left.cel} ${operator} ${right.cel}`
}

function condition(
  step: Step,
  one: { left?: Json | undefined; right?: Json | undefined; type: string; operation: string },
  scope: Scope,
  ignoreCase: boolean,
): string {
  const left = step.out(one.left, scope, 'condition')
  const right = step.out(one.right, scope, 'condition')
  const fold = (text: string): string => (ignoreCase ? `${text}.lower()` : text)
  const operator = COMPARE[one.operation]
  if (operator !== undefined) return compared(one.type, operator, left, right, one, ignoreCase)
  const [a, b] = [fold(textOf(left)), fold(textOf(right))]
  switch (one.operation) {
    case 'contains':
      return one.type === 'array' ? `${right.cel} in ${left.cel}` : `${a}.contains(${b})`
    case 'notContains':
      return one.type === 'array' ? `!(${right.cel} in ${left.cel})` : `!${a}.contains(${b})`
    case 'startsWith':
      return `${a}.startsWith(${b})`
    case 'notStartsWith':
      return `!${a}.startsWith(${b})`
    case 'endsWith':
      return `${a}.endsWith(${b})`
    case 'notEndsWith':
      return `!${a}.endsWith(${b})`
    case 'regex':
    case 'notRegex': {
      if (typeof one.right !== 'string' || one.right.startsWith('='))
        throw new NotConvertible('the pattern of a condition is computed')
      const pattern = one.right.replace(/^\/(.*)\/[gmiyus]*$/, '$1')
      if (/\(\?(?:=|!|<)/.test(pattern)) throw new NotConvertible('a regular expression uses look-around')
      return `${one.operation === 'regex' ? '' : '!'}${a}.matches(${quote(pattern)})`
    }
    case 'empty':
    case 'isEmpty':
      return `${left.cel} in [null, "", [], {}]`
    case 'notEmpty':
    case 'isNotEmpty':
      return `!(${left.cel} in [null, "", [], {}])`
    case 'exists':
      return `${left.cel} != null`
    case 'notExists':
      return `${left.cel} == null`
    case 'true':
      return truth(left)
    case 'false':
      return `!(${truth(left)})`
    case 'lengthEquals':
    case 'lengthGt':
    case 'lengthLt':
    case 'lengthGte':
    case 'lengthLte':
    case 'lengthNotEquals': {
      const sign = {
        lengthEquals: '==',
        lengthNotEquals: '!=',
        lengthGt: '>',
        lengthLt: '<',
        lengthGte: '>=',
        lengthLte: '<=',
      }[one.operation]
      return `size(${left.cel}) ${sign} ${asNumber(right, one.right).cel}`
    }
    default:
      throw new NotConvertible(`the condition "${one.operation.slice(0, 40)}" has no counterpart`)
  }
}

const readNew = (one: JsonObject): Parameters<typeof condition>[1] => {
  const operator = isObject(one.operator) ? one.operator : {}
  return {
    left: one.leftValue,
    right: one.rightValue,
    type: String(operator.type ?? 'string'),
    operation: String(operator.operation ?? 'equals'),
  }
}

/** Returns all conditions of `{conditions: …}`, combined. */
export function conditionsCel(
  step: Step,
  source: Json | undefined,
  scope: Scope,
  options: { combine?: Json | undefined; ignoreCase?: boolean } = {},
): string {
  const held = isObject(source) ? source : {}
  const settings = isObject(held.options) ? held.options : {}
  const ignoreCase = options.ignoreCase === true || settings.caseSensitive === false
  const parts: string[] = []
  if (Array.isArray(held.conditions)) {
    for (const one of held.conditions) if (isObject(one)) parts.push(condition(step, readNew(one), scope, ignoreCase))
  } else {
    for (const [type, list] of Object.entries(held))
      for (const one of Array.isArray(list) ? list : [])
        if (isObject(one)) {
          const fallback = type === 'boolean' || type === 'string' ? 'equal' : type === 'number' ? 'smaller' : 'after'
          parts.push(
            condition(
              step,
              { left: one.value1, right: one.value2, type, operation: String(one.operation ?? fallback) },
              scope,
              ignoreCase,
            ),
          )
        }
  }
  const isAny = held.combinator === 'or' || options.combine === 'any' || options.combine === 'or'
  if (parts.length === 0) return 'true'
  return parts.map((part) => `(${part})`).join(isAny ? ' || ' : ' && ')
}

export const oneCondition = condition
