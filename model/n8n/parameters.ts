import type { Json, JsonObject } from '../definition.ts'
import { isForbiddenKey, isObject } from '../json.ts'
import { computedValue } from './computed.ts'
import { NotConvertible, NotFilled } from './js-ast.ts'
import type { Notes } from './notes.ts'
import { celOut, type Out, quote, toValue } from './out.ts'
import type { Scope } from './scope.ts'
import { isSecretName, withoutSecrets } from './secrets.ts'
import { outOf, parameterValue } from './templates.ts'

/** Longer ones are computed by code, so that several fit into one expression. */
const LONG = 1_500

const isPlaceholder = (text: string): boolean =>
  /^[<[{(]?\s*(your|my|enter|add|insert|replace|paste|xxx|\*\*\*)/i.test(text) || text.length < 6

/** Something that has no counterpart: the run fails there, and the text says what stood there. */
export function missing(raw: string, error: NotConvertible, notes: Notes, field = ''): Json {
  const clean = withoutSecrets(raw).text.slice(0, 300)
  if (error instanceof NotFilled) notes.remark(`${field === '' ? '' : `${field}: `}${error.message} in n8n either`)
  else notes.byHand(`${field === '' ? '' : `${field}: `}${error.message}`)
  return { $cel: `dyn(${quote(`To do by hand: ${clean}`)}).value()` }
}

/** A parameter with everything inside it. Keys and tokens that were typed in are taken out. */
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

/** By code, where CEL cannot say it; otherwise why neither can. */
function computed(text: string, scope: Scope): Out | NotConvertible {
  try {
    return computedValue(text, scope)
  } catch (error) {
    if (error instanceof NotConvertible) return error
    throw error
  }
}

/** The same, as CEL. */
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
