import type { Knowledge } from '#sdk/types.generated'

/** The confirmation before a knowledge base is deleted. */
export const deletionOf = ({ name }: Knowledge) => ({
  title: `Delete ${name}?`,
  consequence: 'All its documents are deleted. Workflows and assistants that search it fail. This cannot be undone.',
  action: 'Delete knowledge base',
})
