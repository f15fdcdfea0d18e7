import { canonicalText } from '#model/canonical'
import type { JsonObject } from '#model/definition'
import type { Issue } from '#model/issue'
import { validateJson } from '#model/json-schema'

// The arguments that the grant of a tool leaves open. The bounds apply to the model that calls the tool and to people
// who edit a call before it is made.

export type CallBounds = {
  /** The schema that is offered: without fixed arguments, and with the allowed values of limited arguments. */
  schema: JsonObject
  /** The schema of the tool itself. */
  full: JsonObject
  /** The arguments that are added to every call. */
  fixed: JsonObject
}

/** Returns the problems of chosen arguments. `chosen` does not contain fixed arguments. */
export function problemsWithin({ schema, full, fixed }: CallBounds, chosen: JsonObject): Issue[] {
  const problems = validateJson(schema, chosen)
  return problems.length > 0 ? problems : validateJson(full, { ...chosen, ...fixed })
}

/**
 * Splits a whole call, as it is shown to people, into chosen and fixed arguments. A fixed argument may be omitted but
 * not changed.
 */
export function chosenOf(bounds: CallBounds, whole: JsonObject): { chosen: JsonObject; problems: Issue[] } {
  const { fixed } = bounds
  const changed = Object.keys(fixed).filter(
    (name) => Object.hasOwn(whole, name) && canonicalText(whole[name]!) !== canonicalText(fixed[name]!),
  )
  const chosen = Object.fromEntries(Object.entries(whole).filter(([name]) => !Object.hasOwn(fixed, name)))
  const problems = changed.map((name) => ({
    path: `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
    message: 'is fixed by the author of the workflow',
  }))
  return { chosen, problems: problems.length > 0 ? problems : problemsWithin(bounds, chosen) }
}
