import type { Suite } from '#sdk/types.generated'

/** The confirmation before a suite is deleted. */
export const deletionOf = ({ name }: Suite) => ({
  title: `Delete ${name}?`,
  consequence: 'The suite and all its reports are deleted permanently. The workflow and the dataset are kept.',
  action: 'Delete suite',
})
