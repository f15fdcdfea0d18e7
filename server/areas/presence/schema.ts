import { z } from 'zod'
import { anyId, anyOf, defineList } from '#platform/http/list'
import { id, jsonObject, reference, timestamp } from '#platform/http/schema'

const statuses = ['online', 'away', 'busy', 'offline'] as const
const status = z.enum(statuses)

const MAX_CONTEXT = 4096
const context = z
  .union([z.string(), jsonObject()])
  .refine((value) => JSON.stringify(value).length <= MAX_CONTEXT, `must be at most ${MAX_CONTEXT} characters of JSON`)

export const Presence = z
  .object({
    presence_id: id('prs'),
    workspace_id: id('ws'),
    user_id: id('usr'),
    status,
    context: z.union([z.string(), jsonObject()]).nullable(),
    last_seen_at: timestamp(),
    expires_at: timestamp(),
  })
  .meta({ id: 'Presence' })
export type Presence = z.input<typeof Presence>

export const ListedPresence = Presence.extend({
  name: z.string().optional().describe('Of the person; shown to operators'),
  workspace_name: z.string().optional().describe('Shown to operators, who may not be in the workspace'),
}).meta({ id: 'ListedPresence' })
export type ListedPresence = z.input<typeof ListedPresence>

export const Colleague = Presence.extend({ name: z.string() }).meta({ id: 'PresentColleague' })
export type Colleague = z.input<typeof Colleague>

export const RecordPresence = z.strictObject({
  status: status.default('online'),
  context: context.nullable().optional(),
  /** The caller's own id. Any other id is refused. */
  user_id: reference('usr').optional(),
})

export const presenceList = defineList({
  id: 'presence_id',
  created: null,
  sort: { created_at: 'id', last_seen_at: 'time' },
  order: '-created_at',
  filters: { workspace_id: anyId('ws', 'Only that in this workspace'), status: anyOf(statuses) },
})

export const colleagueList = defineList({
  id: 'presence_id',
  created: null,
  search: ['name'],
  sort: { created_at: 'id', last_seen_at: 'time', name: 'text' },
  order: '-created_at',
  filters: { status: anyOf(statuses) },
})
