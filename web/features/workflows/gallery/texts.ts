import type { Definition, Json } from '#model/definition'
import { isObject } from '#model/json'

// What people read in a workflow that is offered: in the language of the page when it is offered, and in the copy that is made of it.

type Change = (text: string) => string
type Offered = { name: string; description: string; needs?: string; use?: string; definition: Definition }

const READ = new Set(['title', 'question', 'description', 'body'])
/** Data, whatever it looks like. */
const DATA = new Set(['default', 'values', 'payload', 'output', 'input', 'policy', 'enum', 'cases'])

const isNode = (value: { [key: string]: Json }): boolean => 'id' in value && 'type' in value

function textsIn(value: Json, change: Change): Json {
  if (Array.isArray(value)) return value.map((item) => textsIn(item, change))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (DATA.has(key)) return [key, inner]
      const isRead = READ.has(key) || (key === 'name' && isNode(value))
      return [key, typeof inner === 'string' && isRead ? change(inner) : textsIn(inner, change)]
    }),
  )
}

/** A workflow that is offered, with each of its texts changed. */
export const changeOffered = <One extends Offered>(offered: One, change: Change): One => ({
  ...offered,
  name: change(offered.name),
  description: change(offered.description),
  ...(offered.use !== undefined && { use: change(offered.use) }),
  ...(offered.needs !== undefined && { needs: change(offered.needs) }),
  definition: textsIn(offered.definition as unknown as Json, change) as unknown as Definition,
})
