import { makeKnowledgeAdd, makeKnowledgeSearch } from '#areas/knowledge/nodes'
import { stateNodes } from '#areas/state/nodes'
import { makeAgentRun } from '#engine/nodes/agent-run'
import { makeDatasetRead } from '#engine/nodes/dataset-read'
import { makeDatasetWrite } from '#engine/nodes/dataset-write'
import { makeLlmExtract } from '#engine/nodes/llm-extract'
import { makeLlmGenerate } from '#engine/nodes/llm-generate'
import { descriptorsOf, makeNodes } from '#engine/nodes/table'
import { makeWarehouseExecute } from '#engine/nodes/warehouse-execute'
import { makeWarehouseQuery } from '#engine/nodes/warehouse-query'
import type { Kinds } from '#model/graph'
import type { NodeDescriptor } from '#model/node'

/**
 * Returns the descriptors of every node that the importer writes, as the palette returns them: without the checks of
 * the server.
 */
export function importerKinds(): Kinds {
  const nothing = {} as never
  const more = [
    makeLlmGenerate(nothing),
    makeLlmExtract(nothing),
    makeAgentRun(nothing),
    ...stateNodes(nothing),
    makeKnowledgeSearch(nothing),
    makeKnowledgeAdd(nothing),
    makeDatasetRead(nothing),
    makeDatasetWrite(nothing),
    makeWarehouseQuery(nothing),
    makeWarehouseExecute(nothing),
  ]
  const bare = ({ checkArgs: _, ...descriptor }: NodeDescriptor): NodeDescriptor => descriptor
  return new Map([...descriptorsOf(makeNodes(nothing, more))].map(([type, descriptor]) => [type, bare(descriptor)]))
}
