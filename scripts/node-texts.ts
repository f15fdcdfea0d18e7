import { groupTitles } from '#engine/nodes/registry'
import type { NodeDescriptor } from '#model/node'
import { changeTexts } from '#model/node-texts'

/** What the console shows of the kinds of nodes, for its catalogue of languages: `web/words/catalogue.ts` reads it. */
export function printNodeTexts(nodes: Iterable<NodeDescriptor>): string {
  const texts = new Set<string>(groupTitles)
  for (const kind of nodes)
    changeTexts(kind, (text) => {
      texts.add(text)
      return text
    })
  return `${JSON.stringify([...texts].sort(), null, 2)}\n`
}
