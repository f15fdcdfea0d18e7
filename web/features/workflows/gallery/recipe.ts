import type { Definition, Json, JsonObject, Node } from '#model/definition'

// A workflow of the gallery in a short notation: steps follow one another unless links define the edges.

export type UseCase =
  | 'Approvals'
  | 'Data and files'
  | 'Webhooks and requests'
  | 'Language models'
  | 'Operations'
  | 'Messages'

export type Recipe = {
  id: string
  name: string
  use: UseCase
  description: string
  /** What the workflow needs besides the installation; absent if it runs offline without changes. */
  needs?: string
  definition: Definition
}

type Step = [id: string, type: string, name: string, args: JsonObject, more?: Partial<Node>]

type Brief = Omit<Recipe, 'definition'> & {
  /** Every field has a default, so that the first execution has sample data. */
  inputs?: Record<string, JsonObject>
  steps: Step[]
  /** `from>to` or `from:port>to`. */
  links?: string[]
  output?: Json
}

export const cel = (expression: string): { $cel: string } => ({ $cel: expression })
export const ref = (path: string): { $ref: string } => ({ $ref: path })

export const text = (value: string, title?: string): JsonObject => ({
  type: 'string',
  ...(title && { title }),
  default: value,
})
export const number = (value: number, title?: string): JsonObject => ({
  type: 'number',
  ...(title && { title }),
  default: value,
})
export const list = (value: Json[], items: JsonObject = {}): JsonObject => ({ type: 'array', items, default: value })

/** The owner votes, including on executions that the owner started. */
export const ownerVotes: JsonObject = { approvers: [{ kind: 'role', id: 'owner' }], quorum: 'any', allow_self: true }

export const body = (steps: Step[], output: Json): JsonObject => ({
  nodes: steps.map(toNode) as unknown as Json,
  edges: chain(steps) as unknown as Json,
  output,
})

const toNode = ([id, type, name, args, more]: Step): Node => ({ id, type, name, args, ...more })

const chain = (steps: readonly Step[]): Definition['edges'] =>
  steps.slice(1).map(([to], index) => ({ from: { node: steps[index]![0] }, to }))

const readLink = (link: string): Definition['edges'][number] => {
  const [from, to] = link.split('>') as [string, string]
  const [node, port] = from.split(':') as [string, string | undefined]
  return { from: { node, ...(port !== undefined && { port }) }, to }
}

export function recipe({ inputs, steps, links, output, ...rest }: Brief): Recipe {
  return {
    ...rest,
    definition: {
      ...(inputs && { inputs: { type: 'object', properties: inputs as JsonObject, required: Object.keys(inputs) } }),
      nodes: steps.map(toNode),
      edges: links ? links.map(readLink) : chain(steps),
      ...(output !== undefined && { output }),
    },
  }
}

/** Returns the initial values of the form: the sample input of a recipe. */
export function sampleOf({ definition }: Recipe): JsonObject {
  const properties = (definition.inputs?.properties ?? {}) as Record<string, JsonObject>
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, schema.default ?? null]))
}
