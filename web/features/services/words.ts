import type { ServiceInList } from '#sdk/types.generated'
import { t } from '#web/words/language.ts'

/** What comes with Heddle is translated; what a workspace imported says what its maker wrote. */
export const wordsOf = ({ source }: Pick<ServiceInList, 'source'>, text: string): string =>
  source === 'built_in' ? t(text) : text

export const sources = {
  built_in: 'Built in',
  openapi: 'OpenAPI',
  mcp: 'MCP',
  piece: 'Piece',
  mcp_program: 'MCP',
} as const
