import type { Json, JsonObject } from '#model/definition'
import { isForbiddenKey, isObject } from '#model/json'
import { type Exit, outputOf } from '../flow.ts'
import { NotConvertible } from '../js-ast.ts'
import { listOf } from '../lenient.ts'
import { celOut, textOf } from '../out.ts'
import type { Scope } from '../scope.ts'
import type { Step } from '../step.ts'

// The Set node, and JSON that is given as a text with expressions inside.

/** Returns the fields that a Set node writes, in the older and the newer form. */
function assignments({ p }: Step): { name: string; value: Json | undefined; type: string }[] {
  if (isObject(p.assignments))
    return listOf(p.assignments.assignments).map((one) => ({
      name: String(one.name ?? ''),
      value: one.value,
      type: String(one.type ?? 'string'),
    }))
  const kinds = isObject(p.fields) ? { fields: p.fields.values } : isObject(p.values) ? p.values : {}
  return Object.entries(kinds).flatMap(([kind, list]) =>
    listOf(list).map((one) => {
      const type = kind === 'fields' ? String(one.type ?? 'stringValue').replace(/Value$/, '') : kind
      return { name: String(one.name ?? ''), value: one.value ?? one[`${type}Value`] ?? one.stringValue, type }
    }),
  )
}

function typedValue(step: Step, raw: Json | undefined, type: string, scope: Scope, field: string): Json {
  if (typeof raw === 'string' && !raw.startsWith('=')) {
    if (type === 'number' && raw.trim() !== '' && Number.isFinite(Number(raw))) return Number(raw)
    if (type === 'boolean') return raw === 'true'
    if (type === 'array' || type === 'object') {
      try {
        return step.value(JSON.parse(raw) as Json, scope, field)
      } catch {
        return step.value(raw, scope, field)
      }
    }
  }
  return step.value(raw ?? null, scope, field)
}

/** Sets a field; `a.b` sets the field `b` inside `a`. */
export function place(values: JsonObject, name: string, value: Json, dotted: boolean): void {
  const path = dotted ? name.split('.') : [name]
  if (path.some((part) => isForbiddenKey(part) || part === ''))
    throw new NotConvertible(`the field "${name.slice(0, 60)}" cannot be set`)
  let at = values
  for (const part of path.slice(0, -1)) {
    const inner = at[part]
    const next: JsonObject = isObject(inner) && !('$ref' in inner) && !('$cel' in inner) ? inner : {}
    at[part] = next
    at = next
  }
  at[path.at(-1)!] = value
}

export function convertSet(step: Step): Exit[] {
  const { p } = step
  const options = isObject(p.options) ? p.options : {}
  const dotted = options.dotNotation !== false
  const include =
    p.includeOtherFields === true ||
    (p.include !== undefined && p.include !== 'none') ||
    (isObject(p.values) && p.keepOnlySet !== true) ||
    (step.node.version < 3 && p.keepOnlySet !== true)
  return step.each(({ scope, add }) => {
    const item = scope.input.paired()
    if (p.mode === 'raw') {
      const id = add('set', { values: rawObject(step, p.jsonOutput, scope) })
      return outputOf(id)
    }
    const values: JsonObject = {}
    const computed: Json[] = []
    for (const { name, value, type } of assignments(step)) {
      if (name === '') continue
      if (name.startsWith('='))
        computed.push({
          name: step.text(name, scope, 'name'),
          value: typedValue(step, value, type, scope, 'value'),
        })
      else place(values, name, typedValue(step, value, type, scope, name), dotted)
    }
    if (!include && computed.length === 0) return outputOf(add('set', { values }))
    const id = add('code', {
      input: { item: include ? step.guarded(item) : {}, values, ...(computed.length > 0 && { computed }) },
      source:
        computed.length === 0
          ? 'return { ...input.item, ...input.values }'
          : 'return { ...input.item, ...input.values, ...Object.fromEntries(input.computed.map(({ name, value }) => [name, value])) }',
    })
    return outputOf(id)
  })
}

/** Converts a text such as `{"a": "{{ $json.b }}"}` to JSON. */
export function rawObject(step: Step, raw: Json | undefined, scope: Scope): Json {
  if (isObject(raw) || Array.isArray(raw)) return step.value(raw, scope)
  if (typeof raw !== 'string' || raw.trim() === '' || raw.trim() === '=') return {}
  const text = raw.startsWith('=') ? raw.slice(1) : raw
  if (!raw.startsWith('=')) {
    try {
      return step.value(JSON.parse(text) as Json, scope)
    } catch {
      throw new NotConvertible('its JSON cannot be read')
    }
  }
  const filled = withValues(text)
  if (filled) {
    try {
      return step.value(restored(JSON.parse(filled.text) as Json, filled.expressions), scope)
    } catch {
      // The code below builds the text when the execution runs.
    }
  }
  const out = step.out(raw, scope, 'JSON')
  return step.guarded(out.type === 'text' ? celOut(`json.decode(${textOf(out)})`) : out)
}

/** Replaces each {{ … }}, inside a text or alone, by a mark that JSON can contain. */
function withValues(text: string): { text: string; expressions: string[] } | undefined {
  const expressions: string[] = []
  let inText = false
  let result = ''
  for (let at = 0; at < text.length; at += 1) {
    if (text.startsWith('{{', at) && text[at + 2] !== '"') {
      let end = text.indexOf('}}', at)
      if (end < 0) return undefined
      while (text[end + 2] === '}' && !isClosed(text.slice(at + 2, end))) end += 1
      expressions.push(text.slice(at, end + 2))
      const mark = `\u0001${expressions.length - 1}\u0002`
      result += inText ? `\\u0001${expressions.length - 1}\\u0002` : JSON.stringify(mark)
      at = end + 1
    } else if (inText && text[at] === '\\') {
      result += text.slice(at, at + 2)
      at += 1
    } else {
      if (text[at] === '"') inText = !inText
      result += inText && text[at] === '\n' ? '\\n' : inText && text[at] === '\t' ? '\\t' : text[at]
    }
  }
  return { text: result, expressions }
}

const isClosed = (source: string): boolean => source.split('{').length === source.split('}').length

// biome-ignore lint/suspicious/noControlCharactersInRegex: the marks are control characters so that no text of a template holds them.
const MARK = /\u0001(\d+)\u0002/g

function restored(value: Json, expressions: string[]): Json {
  if (typeof value === 'string') {
    MARK.lastIndex = 0
    if (!MARK.test(value)) return value.startsWith('=') ? `=${value}` : value
    return `=${value.replace(MARK, (_all, at: string) => expressions[Number(at)] ?? '')}`
  }
  if (Array.isArray(value)) return value.map((item) => restored(item, expressions))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key.replace(MARK, '_'), restored(item, expressions)]),
  )
}
