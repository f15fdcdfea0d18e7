import type { Json, JsonObject } from './definition.ts'
import type { Issue } from './issue.ts'
import { isObject, own } from './json.ts'

// Chooses what to report about a value that matches none of several allowed forms (`anyOf`, `oneOf`).

/** A form that the value does not match, and why. */
export type Tried = { form: Json; issues: Issue[] }

const MAX_FORMS = 4
const MAX_TEXT = 300

/** Returns the errors of the form that the value resembles most, or one error that names all forms. */
export function closestForm(tried: Tried[], value: Json, path: string): Issue[] {
  if (tried.length === 1) return tried[0]!.issues
  // An error at the path itself means that the value is of another type than the form.
  const alike = tried.filter(({ issues }) => issues.every((issue) => issue.path !== path))
  let closest: { issues: Issue[]; distance: number } | undefined
  for (const { form, issues } of alike) {
    const distance = distanceOf(form, issues, value, path)
    if (distance < (closest?.distance ?? Number.POSITIVE_INFINITY)) closest = { issues, distance }
  }
  return closest?.issues ?? [{ path, message: `must match one of the allowed forms: ${namesOf(tried, path)}` }]
}

/** Counts the fields of the value itself that are wrong. Errors deeper inside count less. */
function distanceOf(form: Json, issues: Issue[], value: Json, path: string): number {
  const own = issues.filter((issue) => !issue.path.slice(path.length + 1).includes('/')).length
  return (isOtherKind(form, value) ? 1000 : 0) + own + issues.length / 1000
}

/** Checks whether a field such as `kind`, which has a fixed value in the form, has another value. */
function isOtherKind(form: Json, value: Json): boolean {
  const properties = isObject(form) ? own(form, 'properties') : undefined
  if (!isObject(properties) || !isObject(value)) return false
  return Object.entries(properties).some(([name, schema]) => {
    const fixed = isObject(schema) ? own(schema, 'const') : undefined
    return fixed !== undefined && Object.hasOwn(value, name) && value[name] !== fixed
  })
}

function namesOf(tried: Tried[], path: string): string {
  const names = tried.map(({ form, issues }) => {
    const { message } = issues.find((issue) => issue.path === path) ?? issues[0]!
    const required = isObject(form) ? requiredOf(form) : ''
    return message === 'must be object' && required !== '' ? `${message} with ${required}` : message
  })
  return [...new Set(names)].slice(0, MAX_FORMS).join(', or ').slice(0, MAX_TEXT)
}

function requiredOf(form: JsonObject): string {
  const required = own(form, 'required')
  return Array.isArray(required) ? required.map(String).join(', ') : ''
}
