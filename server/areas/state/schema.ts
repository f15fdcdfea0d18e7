import { z } from 'zod'
import { defineList } from '#platform/http/list'
import { id, timestamp } from '#platform/http/schema'

export const StateEntry = z
  .object({
    key: z.string().describe('The name under which it is stored'),
    value: z.unknown().describe('What `state.set` stored'),
    version: z.number().describe('Another number after every change'),
    bytes: z.number().describe('The size of the value as JSON'),
    execution_id: id('exe').nullable().describe('The execution that set it'),
    updated_at: timestamp(),
  })
  .meta({ id: 'StateEntry' })
export type StateEntry = z.input<typeof StateEntry>

export const stateList = defineList({
  id: 'key',
  idIs: 'text',
  created: null,
  search: ['key'],
  sort: { key: 'id', updated_at: 'time', bytes: 'number' },
  order: 'key',
})
export const stateQuery = stateList.query.extend({
  prefix: z.string().max(128).optional().describe('How the keys begin'),
})

export const StateCleared = z
  .object({ deleted: z.number().describe('How many keys there were') })
  .meta({ id: 'StateCleared' })
