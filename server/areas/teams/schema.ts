import { z } from 'zod'
import { anyId, defineList } from '#platform/http/list'
import { id, name, reference, timestamp } from '#platform/http/schema'

const TeamMember = z.object({ user_id: id('usr'), name: z.string(), added_at: timestamp() }).meta({ id: 'TeamMember' })

export const Team = z
  .object({
    team_id: id('team'),
    workspace_id: id('ws'),
    owner_id: id('usr'),
    name: z.string(),
    slug: z.string(),
    description: z.string().nullable(),
    member_count: z.int(),
    members: z.array(TeamMember),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'Team' })
export type Team = z.input<typeof Team>

/** A team in lists. Without members, since teams can be large. */
export const TeamSummary = Team.omit({ members: true }).meta({ id: 'TeamSummary' })
export type TeamSummary = z.input<typeof TeamSummary>

export const ListedTeam = TeamSummary.extend({
  workspace_name: z.string().optional().describe('Shown to operators, who may not be in the workspace'),
}).meta({ id: 'ListedTeam' })
export type ListedTeam = z.input<typeof ListedTeam>

export const MAX_SLUG_LENGTH = 63
const slug = z
  .string()
  .max(MAX_SLUG_LENGTH)
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be lower-case letters and digits, in words joined by hyphens')
const description = z.string().max(2000).nullable()

export const NewTeam = z.strictObject({ name: name(), slug: slug.optional(), description: description.optional() })
export const TeamPatch = z.strictObject({
  name: name().optional(),
  slug: slug.optional(),
  description: description.optional(),
})
export const AddUsers = z.strictObject({ user_ids: z.array(reference('usr')).min(1).max(1000) })

export const teamList = defineList({
  id: 'team_id',
  search: ['name', 'slug', 'description'],
  sort: { created_at: 'id', updated_at: 'time', name: 'text' },
  order: '-created_at',
  filters: {
    workspace_id: anyId('ws', 'Only teams of this workspace'),
    owner_id: anyId('usr', 'Only teams of this owner'),
  },
})
