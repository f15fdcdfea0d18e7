import { member, orOneself, owner, signedIn, viewer } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import { AddUsers, ListedTeam, NewTeam, Team, TeamPatch, teamList } from './schema.ts'
import * as teams from './service.ts'

export const teamRoutes = (): AnyRoute[] =>
  routes(
    'Teams',
    {
      listTeams: ['GET', '/api/teams', signedIn],
      createTeam: ['POST', '/api/teams', member('workspace')],
      getTeamBySlug: ['GET', '/api/teams/slug/:slug', signedIn],
      getTeam: ['GET', '/api/teams/:team_id', viewer('team')],
      updateTeam: ['PATCH', '/api/teams/:team_id', owner('team')],
      deleteTeam: ['DELETE', '/api/teams/:team_id', owner('team')],
      addTeamUsers: ['POST', '/api/teams/:team_id/add_users', owner('team')],
      removeTeamMember: ['DELETE', '/api/teams/:team_id/members/:user_id', orOneself(owner('team'))],
    },
    {
      listTeams: {
        summary: "Teams of the caller's workspaces (operators: all)",
        query: teamList.query,
        answer: page(ListedTeam),
        run: teams.listTeams,
      },
      createTeam: {
        summary: 'Create a team in the selected workspace',
        description:
          'Without a slug, one is derived from the name, with a number if the slug is in use. A given slug that is in use gets 409.',
        body: NewTeam,
        answer: Team,
        status: 201,
        location: ({ team_id }) => `/api/teams/${team_id}`,
        examples: { body: { name: 'Finance', description: 'Signs what costs money' } },
        run: teams.createTeam,
      },
      getTeamBySlug: {
        summary: "A team of the caller's workspaces by its slug; the selected workspace is searched first",
        answer: Team,
        run: teams.getTeamBySlug,
      },
      getTeam: { summary: 'One team with its members', answer: Team, run: teams.getTeam },
      updateTeam: {
        summary: 'Change a team: its creator or a workspace owner',
        body: TeamPatch,
        answer: Team,
        current: teams.getTeam,
        run: teams.updateTeam,
      },
      deleteTeam: {
        summary: 'Delete a team: its creator or a workspace owner',
        status: 204,
        current: teams.getTeam,
        run: teams.deleteTeam,
      },
      addTeamUsers: {
        summary: 'Add people of the workspace to the team, all of them or none',
        body: AddUsers,
        answer: Team,
        examples: { body: { user_ids: ['usr_01kf3v6h2he3wtpk1fw5c0wz9d'] } },
        run: teams.addUsers,
      },
      removeTeamMember: {
        summary: 'Remove a person from the team, or leave it',
        description:
          'The person stays in the workspace. Open gates that ask the team are evaluated again: a person who left can no longer vote on them.',
        status: 204,
        extension: true,
        current: teams.getMember,
        run: teams.removeMember,
      },
    },
  )
