import type { ServiceInList } from '#sdk/types.generated'
import { t } from '#web/words/language.ts'

/**
 * Returns a text of a service. Texts of built-in services are translated; texts of imported services stay as their
 * author wrote them.
 */
export const wordsOf = ({ source }: Pick<ServiceInList, 'source'>, text: string): string =>
  source === 'built_in' ? t(text) : text

/** Returns the arguments with their descriptions in the language of the page. */
export function argumentsIn(
  service: Pick<ServiceInList, 'source'>,
  schema: Record<string, unknown>,
): Record<string, unknown> {
  const fields = Object.entries((schema.properties ?? {}) as Record<string, { description?: unknown }>)
  const said = fields.map(([name, field]) => [
    name,
    typeof field.description === 'string' ? { ...field, description: wordsOf(service, field.description) } : field,
  ])
  return { ...schema, properties: Object.fromEntries(said) }
}

export const sources = {
  built_in: 'Built in',
  openapi: 'OpenAPI',
  mcp: 'MCP',
  piece: 'Piece',
  mcp_program: 'MCP',
} as const
