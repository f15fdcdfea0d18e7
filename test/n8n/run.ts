import { expect } from 'vitest'
import type { Json, JsonObject } from '#model/definition'
import { convertN8n } from '#model/n8n/convert'
import { readWorkflow } from '#model/n8n/read'
import type { World } from '#test/harness/world'
import { importerKinds } from './kinds.ts'

export type Given = { name: string; type: string; parameters?: JsonObject; typeVersion?: number } & JsonObject
export const base = (type: string): string => `n8n-nodes-base.${type}`

/**
 * Converts, saves and runs a workflow; fails if the importer leaves anything to do by hand. A workflow without a
 * trigger is started by hand.
 */
export async function runConverted(
  world: World,
  nodes: Given[],
  edges: [string, number, string][],
  input: Json = {},
): Promise<Json> {
  const connections: Record<string, { main: JsonObject[][] }> = {}
  for (const [from, port, to] of edges) {
    connections[from] ??= { main: [] }
    const { main } = connections[from]
    while (main.length <= port) main.push([])
    main[port]!.push({ node: to, type: 'main', index: 0 })
  }
  const isStarted = nodes.some(({ type }) => type.endsWith('Trigger'))
  const all = isStarted ? nodes : [{ name: 'Start', type: base('manualTrigger'), parameters: {} }, ...nodes]
  const { definition, report } = convertN8n(readWorkflow({ name: 'T', nodes: all, connections } as unknown as Json), {
    kinds: importerKinds(),
    services: new Map(),
  })
  expect(report.filter(({ outcome }) => outcome === 'by_hand')).toEqual([])
  const made = await world.owner.call('POST', '/api/workflows', { body: { name: 'T', definition } })
  expect([made.status, made.body]).toEqual([201, expect.anything()])
  const ran = await world.owner.call('POST', `/api/workflows/${made.body.workflow_id}/run?wait_s=30`, {
    body: { input },
  })
  expect([ran.body.status, ran.body.error ?? null]).toEqual(['succeeded', null])
  return ran.body.results
}
