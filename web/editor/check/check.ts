import { FUNCTION_HELP } from '#model/cel-help-table'
import { momentOf } from '#model/cel-runtime'
import type { Json } from '#model/definition'
import { ExpressionFailure, resolveValue, type Scope } from '#model/expressions'
import { validateDefinition } from '#model/graph'
import type { Issue } from '#model/issue'
import { unusableDefaults } from '#model/question-defaults'
import { t } from '#web/words/language.ts'
import { translateMessage } from '#web/words/messages.ts'
import type { Doc } from '../document/document.ts'
import type { KindTable } from '../kinds.ts'
import { undeclaredFields } from './undeclared-fields.ts'

export { readConditions } from './read-conditions.ts'

// The service's own validation and its expression language, in the browser. A separate chunk: see load.ts.

export const functionHelp = FUNCTION_HELP.map(({ group, functions }) => ({
  group: t(group),
  functions: functions.map((one) => ({ ...one, does: t(one.does) })),
}))

export function check(definition: unknown, kinds: KindTable): Issue[] {
  const result = validateDefinition(definition, kinds)
  return result.ok ? [] : result.errors
}

/** Returns warnings: what can be saved but is probably a mistake. */
export const warnings = (doc: Doc, kinds: KindTable): Issue[] => [
  ...undeclaredFields(doc, kinds),
  ...unusableDefaults(doc),
]

export type Preview = { ok: true; value: Json } | { ok: false; message: string }

/** Evaluates a value with the data of the last execution. */
export function preview(value: Json, scope: Scope): Preview {
  try {
    return { ok: true, value: resolveValue(value, { ...scope, moment: momentOf(Date.now(), 'preview') }) }
  } catch (error) {
    if (!(error instanceof ExpressionFailure)) throw error
    return { ok: false, message: translateMessage(error.message) }
  }
}
