import type { Template } from '#sdk/types.generated'

/** The confirmation before a template is deleted. */
export const deletionOf = ({ name }: Template) => ({
  title: `Delete ${name}?`,
  consequence:
    'Widgets with its tokens stop working at once, channels that use it are switched off, and threads continue without an assistant. This cannot be undone.',
  action: 'Delete template',
})
