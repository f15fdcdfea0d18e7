import { expect } from 'vitest'
import type { Json, JsonObject, Node } from '#model/definition'
import { validateDefinition } from '#model/graph'
import { allNodes } from '#model/graph-ids'
import { convertN8n } from '#model/n8n/convert'
import { readWorkflow } from '#model/n8n/read'
import type { Catalogue, Converted } from '#model/n8n/types'
import { serviceCatalogue } from '#providers/services/catalogue'
import { importerKinds } from './kinds.ts'

const kinds = importerKinds()
const services: Catalogue = new Map(
  [...serviceCatalogue()].map(([name, { actions }]) => [
    name,
    new Map([...actions].map(([key, { args_schema }]) => [key, args_schema])),
  ]),
)

export type Given = { name: string; type: string; parameters?: JsonObject; typeVersion?: number } & JsonObject
export const base = (type: string): string => `n8n-nodes-base.${type}`
export const lang = (type: string): string => `@n8n/n8n-nodes-langchain.${type}`

/** Converts nodes and connections, given as [from, to, kind]. The result passes our validation. */
export function convertNodes(nodes: Given[], edges: [from: string, to: string, kind?: string][]): Converted {
  const connections: Record<string, Record<string, JsonObject[][]>> = {}
  for (const [from, to, kind = 'main'] of edges) {
    const ports = connections[from]?.[kind] ?? [[]]
    ports[0]!.push({ node: to, type: kind, index: 0 })
    connections[from] = { ...connections[from], [kind]: ports }
  }
  const converted = convertN8n(readWorkflow({ name: 'Test', nodes, connections } as unknown as Json), {
    kinds,
    services,
  })
  expect(validateDefinition(converted.definition, kinds)).toMatchObject({ ok: true })
  return converted
}

/** Converts one node after a manual start. */
export const convertOne = (type: string, parameters: JsonObject, more: JsonObject = {}): Converted =>
  convertNodes(
    [
      { name: 'Start', type: base('manualTrigger') },
      { name: 'It', type: type.includes('.') ? type : base(type), parameters, ...more },
    ],
    [['Start', 'It']],
  )

export const byHand = ({ report }: Converted): string[] =>
  report.filter(({ outcome }) => outcome === 'by_hand').map(({ node, why }) => `${node}: ${why}`)
export const nodesOf = ({ definition }: Converted, type: string): Node[] =>
  [...allNodes(definition)].filter((node) => node.type === type)
