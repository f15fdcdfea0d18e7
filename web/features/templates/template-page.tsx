import { useQueries } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Template } from '#sdk/types.generated'
import { query, useApi } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Page } from '#web/ui/page.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { TabLinks } from '#web/ui/tabs.tsx'

/** The creator, the teams and the owners of the workspace may change a template; members see its tokens. */
export function TemplateShell({
  section,
  children,
}: {
  section: string
  /** `mayManage`: the user may manage tokens and teams, and delete the template. */
  children(template: Template, mayChange: boolean, mayManage: boolean): ReactNode
}) {
  const { template_id } = useParams({ strict: false }) as { template_id: string }
  const { userId, isOwner, canWrite } = useRole()
  const template = useApi('getTemplate', { template_id })
  const teams = useQueries({
    queries: (template.data?.teams ?? []).map(({ team_id }) => query('getTeam', { team_id })),
  })
  const isInTeam = teams.some(({ data }) => data?.members.some(({ user_id }) => user_id === userId))
  return (
    <Page
      title={template.data ? `${template.data.name} · ${section}` : section}
      heading={template.data?.name ?? 'Template'}
      crumbs={[{ label: 'Templates', to: '/templates' }]}
    >
      <Loaded of={template} what="the template">
        {(found) => (
          <>
            <TabLinks
              label="Sections of the template"
              tabs={[
                { to: `/templates/${template_id}`, label: 'Settings', exact: true },
                { to: `/templates/${template_id}/widget`, label: 'Widget' },
                { to: `/templates/${template_id}/channels`, label: 'Channels' },
              ]}
            />
            {children(
              found,
              isOwner || (canWrite && (found.owner_id === userId || isInTeam)),
              isOwner || (canWrite && found.owner_id === userId),
            )}
          </>
        )}
      </Loaded>
    </Page>
  )
}
