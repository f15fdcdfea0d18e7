import { Navigate, useParams } from '@tanstack/react-router'
import { useApi } from '#web/api.ts'
import { Page } from '#web/ui/page.tsx'
import { Loaded } from '#web/ui/states.tsx'

/** A readable address: /teams/slug/finance. */
export function TeamBySlugPage() {
  const { slug } = useParams({ strict: false }) as { slug: string }
  const team = useApi('getTeamBySlug', { slug })
  return (
    <Page title="Team" crumbs={[{ label: 'Teams', to: '/teams' }]}>
      <Loaded of={team} what="the team">
        {({ team_id }) => <Navigate to={`/teams/${team_id}`} replace />}
      </Loaded>
    </Page>
  )
}
