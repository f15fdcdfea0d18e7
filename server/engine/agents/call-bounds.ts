import { canonicalText } from '#model/canonical'
import type { JsonObject } from '#model/definition'
import type { Issue } from '#model/issue'
import { validateJson } from '#model/json-schema'

// What the grant of a tool leaves open. It binds the model that calls the tool, and people who edit a call before it is made.

export type CallBounds = {
  /** What is offered: nothing of fixed arguments, and of limited ones the choice. */
  schema: JsonObject
  /** What the tool itself takes. */
  full: JsonObject
  /** What every call has besides. */
  fixed: JsonObject
}

/** What is wrong with arguments that somebody chose. Fixed ones are not among them. */
export function problemsWithin({ schema, full, fixed }: CallBounds, chosen: JsonObject): Issue[] {
  const problems = validateJson(schema, chosen)
  return problems.length > 0 ? problems : validateJson(full, { ...chosen, ...fixed })
}

/** Splits a whole call, as people are shown it, into what is chosen and what is fixed. A fixed argument may be left out, not changed. */
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
