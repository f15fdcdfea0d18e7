import { type Cases, type Cast, rows, withChanges } from './matrix.ts'

/** Guests do not see teams; the team's creator and the owners of the workspace change teams. */
const changing = withChanges(rows.ownerOnly, { workspaceOwner: 'ok', guest: 404 })

const team = async ({ author }: Cast) => {
  const { body } = await author.call('POST', '/api/teams', { body: { name: 'Case' } })
  return { params: { team_id: body.team_id as string } }
}

export const teamCases: Cases = {
  listTeams: { expect: rows.signedIn },
  createTeam: { expect: rows.selectedWrite, prepare: async () => ({ body: { name: 'Made' } }) },
  getTeamBySlug: {
    expect: withChanges(rows.workspaceRead, { guest: 404 }),
    prepare: async ({ author }) => {
      const { body } = await author.call('POST', '/api/teams', { body: { name: 'By slug' } })
      return { params: { slug: body.slug as string } }
    },
    plainParameters: ['slug'],
  },
  getTeam: { expect: withChanges(rows.workspaceRead, { guest: 404 }), prepare: team },
  updateTeam: { expect: changing, prepare: async (cast) => ({ ...(await team(cast)), body: { name: 'Renamed' } }) },
  deleteTeam: { expect: changing, prepare: team },
  addTeamUsers: {
    expect: changing,
    prepare: async (cast) => ({ ...(await team(cast)), body: { user_ids: [cast.member.id] } }),
  },
  removeTeamMember: {
    expect: withChanges(changing, { resourceMember: 'ok' }),
    prepare: async (cast) => {
      const { params } = await team(cast)
      const user_id = cast.resourceMember.id
      await cast.author.call('POST', `/api/teams/${params.team_id}/add_users`, { body: { user_ids: [user_id] } })
      return { params: { ...params, user_id } }
    },
  },
}
