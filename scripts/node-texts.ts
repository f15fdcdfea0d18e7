import { groupTitles } from '#engine/nodes/registry'
import type { NodeDescriptor } from '#model/node'
import { changeTexts } from '#model/node-texts'

/**
 * Prints the texts of node types that the console shows, for its language catalogue: `web/words/catalogue.ts` reads
 * them.
 */
export function printNodeTexts(nodes: Iterable<NodeDescriptor>): string {
  const texts = new Set<string>(groupTitles)
  for (const kind of nodes)
    changeTexts(kind, (text) => {
      texts.add(text)
      return text
    })
  return `${JSON.stringify([...texts].sort(), null, 2)}\n`
}
