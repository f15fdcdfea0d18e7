import type { Json } from '../definition.ts'
import { isObject } from '../json.ts'
import { objectOf } from './lenient.ts'
import type { N8nNode } from './types.ts'

/** Converts the older request tool: the model fills in `{name}`. */
export function asRequest(node: N8nNode): N8nNode {
  const { parameters: p } = node
  const open = (text: Json | undefined): Json | undefined =>
    typeof text === 'string' && /\{\w+\}/.test(text)
      ? `=${text.replace(/^=/, '').replaceAll(/(?<!\{)\{(\w+)\}(?!\})/g, "{{ $fromAI('$1') }}")}`
      : text
  const pairs = (held: Json | undefined): Json => ({
    parameters: (Array.isArray(objectOf(held).values) ? (objectOf(held).values as Json[]) : [])
      .filter(isObject)
      .map(({ name, value, valueProvider }) => ({
        name: name ?? '',
        value:
          valueProvider === undefined || valueProvider === 'modelRequired' || valueProvider === 'modelOptional'
            ? `={{ $fromAI(${JSON.stringify(String(name))}) }}`
            : (open(value) ?? ''),
      })),
  })
  return {
    ...node,
    type: 'n8n-nodes-base.httpRequest',
    version: 4.2,
    parameters: {
      ...p,
      url: open(p.url) ?? '',
      queryParameters: pairs(p.parametersQuery),
      headerParameters: pairs(p.parametersHeaders),
      bodyParameters: pairs(p.parametersBody),
      jsonBody: open(p.jsonBody) ?? '',
      jsonQuery: open(p.jsonQuery) ?? '',
      jsonHeaders: open(p.jsonHeaders) ?? '',
    },
  }
}
