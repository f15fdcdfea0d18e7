// The descriptions of node kinds for the registry and the palette. Pure functions: an editor can be built from their
// results alone.

import type { JsonObject } from '#model/definition'
import type { NodeDescriptor } from '#model/node'
import type { AnyKind } from './kind.ts'
import type { NodeTable } from './table.ts'

export type RegistryEntry = {
  type: string
  title: string
  description: string
  args_schema: JsonObject
  output_schema: JsonObject
  ports: string[]
  available: boolean
  unavailable_reason: string | null
}
export type Registry = { tools: RegistryEntry[]; capabilities: RegistryEntry[]; agents: RegistryEntry[] }

export type PaletteEntry = RegistryEntry & {
  kind: NodeDescriptor['kind']
  icon: string
  colour: string
  keywords: string[]
  defaults: JsonObject
  effect: NodeDescriptor['effect']
}
export type Palette = { groups: { group: NodeDescriptor['group']; title: string; nodes: PaletteEntry[] }[] }

const GROUPS: readonly { group: NodeDescriptor['group']; title: string }[] = [
  { group: 'control', title: 'Flow' },
  { group: 'people', title: 'People' },
  { group: 'tools', title: 'Tools' },
  { group: 'services', title: 'Services' },
  { group: 'data', title: 'Data' },
  { group: 'messages', title: 'Messages' },
  { group: 'language', title: 'Language' },
  { group: 'agents', title: 'Agents' },
]

export const groupTitles: readonly string[] = GROUPS.map(({ title }) => title)

export function describeRegistry(nodes: NodeTable): Registry {
  const of = (kind: NodeDescriptor['kind']): RegistryEntry[] =>
    [...nodes.values()].filter(({ descriptor }) => descriptor.kind === kind).map(toEntry)
  return { tools: of('tool'), capabilities: of('capability'), agents: of('agent') }
}

export function describePalette(nodes: NodeTable): Palette {
  const groups = GROUPS.map(({ group, title }) => ({
    group,
    title,
    nodes: [...nodes.values()].filter(({ descriptor }) => descriptor.group === group).map(toPaletteEntry),
  }))
  return { groups: groups.filter((entry) => entry.nodes.length > 0) }
}

function toEntry(kind: AnyKind): RegistryEntry {
  const { type, title, description, args_schema, output_schema, ports } = kind.descriptor
  const reason = kind.unavailable?.() ?? kind.unavailableByDefault?.() ?? null
  return {
    type,
    title,
    description,
    args_schema,
    output_schema,
    ports,
    available: reason === null,
    unavailable_reason: reason,
  }
}

function toPaletteEntry(kind: AnyKind): PaletteEntry {
  const { icon, colour, keywords, defaults, effect } = kind.descriptor
  return { ...toEntry(kind), kind: kind.descriptor.kind, icon, colour, keywords, defaults, effect }
}
