import { t } from '#web/words/language.ts'

export type Role = 'owner' | 'member' | 'viewer' | 'guest'

export const roleWords: Record<Role, { label: string; can: string }> = {
  owner: { label: 'Owner', can: 'Full access, including people, billing and the workspace' },
  member: { label: 'Member', can: 'Creates and runs workflows, data and conversations' },
  viewer: { label: 'Viewer', can: 'Reads. Votes and answers when asked' },
  guest: { label: 'Guest', can: 'Sees only the threads and jobs they were invited to' },
}

/** Returns the label of a role in a workspace, or in a workflow, job or thread. */
export const roleLabel = (role: string): string =>
  role === 'editor' ? t('Editor') : (roleWords[role as Role]?.label ?? role)

export const invitableRoles = (['member', 'viewer', 'owner'] as const).map((value) => ({
  value,
  label: `${roleWords[value].label}: ${roleWords[value].can.charAt(0).toLowerCase()}${roleWords[value].can.slice(1)}`,
}))
