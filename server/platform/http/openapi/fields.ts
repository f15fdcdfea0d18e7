import { dataFields } from './fields-data.ts'
import { peopleFields } from './fields-people.ts'
import { workflowFields } from './fields-workflows.ts'

// Descriptions of fields, by name, or by `Owner.name` if a component or an operation uses the name differently. A
// schema's own `.describe()` takes precedence.

type Schema = Record<string, unknown>

const fields: Record<string, string> = { ...peopleFields, ...workflowFields, ...dataFields }

/** Returns the names whose description the document does not contain: the field is gone, or has its own description. */
export function unusedDescriptions(document: Schema): string[] {
  const printed = JSON.stringify(document)
  return Object.keys(fields).filter((name) => !printed.includes(`"description":${JSON.stringify(fields[name])}`))
}

/** Name endings that determine the description. */
const endings: [ending: RegExp, describe: (rest: string) => string][] = [
  [/_ids$/, (rest) => `The ids of the ${rest}s`],
  [/_id$/, (rest) => `The id of the ${rest}`],
  [/_url$/, (rest) => `The address of the ${rest}`],
  [/_at$/, (rest) => `When it was ${rest}; null means never`],
  [/_s$/, (rest) => `The ${rest}, in seconds`],
  [/_bytes$/, (rest) => `The ${rest}, in bytes`],
  [/_count$/, (rest) => `How many ${rest}s there are`],
  [/_sha256$/, (rest) => `The SHA-256 fingerprint of the ${rest}, in hex`],
]

/** Returns the description of the field, or undefined if there is none. */
export function describeField(owner: string, name: string): string | undefined {
  const known = fields[`${owner}.${name}`] ?? fields[name]
  if (known !== undefined) return known
  for (const [ending, describe] of endings)
    if (ending.test(name)) return describe(name.replace(ending, '').replaceAll('_', ' '))
  return undefined
}

/** Keywords whose values are data and not schemas. */
const DATA = new Set(['example', 'examples', 'default', 'const', 'enum', 'required', 'mapping'])

/** Returns the schema with a description for every property that is not a component. */
export function describeFields<T>(schema: T, owner: string): T {
  if (Array.isArray(schema)) return schema.map((one) => describeFields(one, owner)) as T
  if (typeof schema !== 'object' || schema === null) return schema
  const described = Object.entries(schema).map(([key, inner]) => {
    if (DATA.has(key)) return [key, inner]
    if (key !== 'properties') return [key, describeFields(inner, owner)]
    const properties = Object.entries(inner as Record<string, Schema>).map(([name, property]) => {
      const about = property.description ?? (property.$ref === undefined ? describeField(owner, name) : undefined)
      return [name, { ...describeFields(property, owner), ...(about !== undefined && { description: about }) }]
    })
    return [key, Object.fromEntries(properties)]
  })
  return Object.fromEntries(described) as T
}

/** Returns the fields without a description, as `Owner.name`. Generating the document fails until there are none. */
export function undescribed(schema: unknown, owner: string, found = new Set<string>()): Set<string> {
  if (Array.isArray(schema)) for (const one of schema) undescribed(one, owner, found)
  else if (typeof schema === 'object' && schema !== null) {
    for (const [key, inner] of Object.entries(schema)) {
      if (DATA.has(key)) continue
      if (key === 'properties')
        for (const [name, property] of Object.entries(inner as Record<string, Schema>))
          if (property.description === undefined && property.$ref === undefined) found.add(`${owner}.${name}`)
      undescribed(inner, owner, found)
    }
  }
  return found
}
