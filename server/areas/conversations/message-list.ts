import { anyOf, defineList } from '#platform/http/list'

/** The messages of one thread, in the order in which they were written. */
export const messageList = defineList({
  id: 'seq',
  idIs: 'number',
  search: ['text'],
  sort: { created_at: 'id' },
  order: 'created_at',
  filters: { role: anyOf(['user', 'assistant', 'visitor', 'system']) },
})
