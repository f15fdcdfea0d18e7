import type { Definition, Json } from '#model/definition'
import { at, isObject } from '#model/json'
import type { DefinitionWarning } from './gate-warnings.ts'

/** Placeholders of other tools, as in `https://{{input.host}}/orders`. Here such a text would be sent as it is. */
const PLACEHOLDER = /\{\{\s*(?:input|nodes|vars|execution|item|\$json|\$node)\b[^{}]{0,100}\}\}/
const MAX_WARNINGS = 50

/** Finds texts of arguments that look like expressions and are none. The text may be meant, so it is not an error. */
export function warnOfPlaceholders(definition: Definition): DefinitionWarning[] {
  const warnings: DefinitionWarning[] = []
  const visit = (value: Json | undefined, path: string): void => {
    if (warnings.length >= MAX_WARNINGS) return
    if (typeof value === 'string') {
      const found = PLACEHOLDER.exec(value)?.[0]
      if (found !== undefined)
        warnings.push({
          path,
          message: `The text ${found} is not replaced. Use an expression ($cel) for the whole value.`,
        })
    } else if (Array.isArray(value)) for (const [index, item] of value.entries()) visit(item, at(path, index))
    else if (isObject(value)) for (const [key, item] of Object.entries(value)) visit(item, at(path, key))
  }
  for (const [index, { args }] of definition.nodes.entries()) visit(args, `/definition/nodes/${index}/args`)
  visit(definition.output, '/definition/output')
  return warnings
}
