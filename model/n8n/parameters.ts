import type { Json, JsonObject } from '../definition.ts'
import { isForbiddenKey, isObject } from '../json.ts'
import { computedValue } from './computed.ts'
import { NotConvertible, NotFilled } from './js-ast.ts'
import type { Notes } from './notes.ts'
import { celOut, type Out, quote, toValue } from './out.ts'
import type { Scope } from './scope.ts'
import { isSecretName, withoutSecrets } from './secrets.ts'
import { outOf, parameterValue } from './templates.ts'

/** Code computes expressions longer than this, so that several fit into one expression. */
const LONG = 1_500

const isPlaceholder = (text: string): boolean =>
  /^[<[{(]?\s*(your|my|enter|add|insert|replace|paste|xxx|\*\*\*)/i.test(text) || text.length < 6

/**
 * Returns a value that makes the execution fail for something without a counterpart. The message contains the original
 * text.
 */
export function missing(raw: string, error: NotConvertible, notes: Notes, field = ''): Json {
  const clean = withoutSecrets(raw).text.slice(0, 300)
  if (error instanceof NotFilled) notes.remark(`${field === '' ? '' : `${field}: `}${error.message} in n8n either`)
  else notes.byHand(`${field === '' ? '' : `${field}: `}${error.message}`)
  return { $cel: `dyn(${quote(`To do by hand: ${clean}`)}).value()` }
}

/** Converts a parameter with all nested values. Literal keys and tokens are removed. */
export function jsonOf(raw: Json | undefined, scope: Scope, notes: Notes, field = ''): Json {
  if (typeof raw === 'string') {
    const { text, found } = withoutSecrets(raw)
    const isNamed =
      !raw.startsWith('=') && raw.trim() !== '' && isSecretName(field.split('.').at(-1) ?? '') && !isPlaceholder(raw)
    if (found || isNamed) notes.byHand(`${field || 'a value'} held a key, which was removed: keep it in a credential`)
    if (isNamed) return ''
    try {
      return parameterValue(text, scope)
    } catch (error) {
      if (!(error instanceof NotConvertible)) throw error
      const found = computed(text, scope)
      return found instanceof NotConvertible ? missing(text, found, notes, field) : toValue(found)
    }
  }
  if (Array.isArray(raw)) return raw.map((item, at) => jsonOf(item, scope, notes, `${field}.${at}`))
  if (!isObject(raw)) return raw ?? null
  const copy: JsonObject = {}
  for (const [key, item] of Object.entries(raw)) {
    if (isForbiddenKey(key)) continue
    copy[key === '$ref' || key === '$cel' ? `_${key.slice(1)}` : key] = jsonOf(
      item,
      scope,
      notes,
      field === '' ? key : `${field}.${key}`,
    )
  }
  return copy
}

/** Computes by code what CEL cannot express; returns the reason if code cannot express it either. */
function computed(text: string, scope: Scope): Out | NotConvertible {
  try {
    return computedValue(text, scope)
  } catch (error) {
    if (error instanceof NotConvertible) return error
    throw error
  }
}

/** Converts a parameter as `jsonOf` does, to CEL. */
export function celOf(raw: Json | undefined, scope: Scope, notes: Notes, field = ''): Out {
  if (typeof raw === 'string') {
    const { text } = withoutSecrets(raw)
    try {
      const found = outOf(text, scope)
      if (found.cel.length <= LONG || found.path || !text.startsWith('=')) return found
      const short = computed(text, scope)
      return short instanceof NotConvertible ? found : short
    } catch (error) {
      if (!(error instanceof NotConvertible)) throw error
      const found = computed(text, scope)
      return found instanceof NotConvertible
        ? celOut((missing(raw, found, notes, field) as { $cel: string }).$cel)
        : found
    }
  }
  if (raw === undefined || raw === null) return celOut('null')
  if (typeof raw === 'number') return celOut(String(raw), 'number')
  if (typeof raw === 'boolean') return celOut(String(raw), 'bool')
  return celOut(JSON.stringify(raw), Array.isArray(raw) ? 'list' : 'map')
}
