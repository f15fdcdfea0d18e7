import type { Definition, Json } from '#model/definition'
import { isObject } from '#model/json'

// The texts of an offered workflow that people read: in the language of the page, both in the offer and in the copy.

type Change = (text: string) => string
type Offered = { name: string; description: string; needs?: string; use?: string; definition: Definition }

const READ = new Set(['title', 'question', 'description', 'body'])
/** Keys whose values are data, even if they look like text. */
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

/** Returns an offered workflow with each of its texts changed. */
export const changeOffered = <One extends Offered>(offered: One, change: Change): One => ({
  ...offered,
  name: change(offered.name),
  description: change(offered.description),
  ...(offered.use !== undefined && { use: change(offered.use) }),
  ...(offered.needs !== undefined && { needs: change(offered.needs) }),
  definition: textsIn(offered.definition as unknown as Json, change) as unknown as Definition,
})
