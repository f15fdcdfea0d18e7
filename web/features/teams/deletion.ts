/** The confirmation before a team is deleted. */
export const deletionOf = ({ name }: { name: string }) => ({
  title: `Delete ${name}?`,
  consequence:
    'The team is deleted permanently. Its people stay in the workspace. The team can no longer approve requests.',
  action: 'Delete team',
})
