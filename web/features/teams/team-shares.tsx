import { useState } from 'react'
import { useAll } from '#web/api.ts'
import { useMe } from '#web/session.tsx'
import { Button } from '#web/ui/button.tsx'
import { Field, Select } from '#web/ui/field.tsx'
import { Card, Section } from '#web/ui/page.tsx'
import { t } from '#web/words/language.ts'
import { roleLabel } from '../people/roles.ts'

export type TeamShare = { team_id: string; role: string }

/** The teams that a resource is shared with. People who join or leave a team gain or lose the role at once. */
export function TeamShares({
  shares,
  roles,
  mayManage,
  pending,
  onChange,
}: {
  shares: TeamShare[]
  /** The first role is the default for a new team. */
  roles: { value: string; label: string }[]
  mayManage: boolean
  pending: boolean
  onChange(next: TeamShare[]): Promise<unknown>
}) {
  const { workspace } = useMe()
  const teams = useAll('listTeams', { limit: 200 }, { enabled: workspace?.role !== 'guest' })
  const [adding, setAdding] = useState('')
  const here = (teams.data ?? []).filter(({ workspace_id }) => workspace_id === workspace?.workspace_id)
  const nameOf = (teamId: string): string => here.find(({ team_id }) => team_id === teamId)?.name ?? t('a team')
  const others = here.filter(({ team_id }) => !shares.some((share) => share.team_id === team_id))
  if (shares.length === 0 && (!mayManage || here.length === 0)) return null
  return (
    <Section title="Teams" description="Everyone in a team has the role of the team.">
      <Card className="flex flex-col divide-y divide-line px-4 py-1">
        {shares.map((share) => (
          <div key={share.team_id} className="flex flex-wrap items-center justify-between gap-3 py-2">
            <span>{nameOf(share.team_id)}</span>
            {mayManage ? (
              <span className="flex max-w-full items-center gap-2">
                {roles.length > 1 && (
                  <Field label={`Role of ${nameOf(share.team_id)}`} hideLabel className="w-78 min-w-0 shrink">
                    <Select
                      options={roles}
                      value={share.role}
                      onChange={(event) =>
                        void onChange(
                          shares.map((one) => (one === share ? { ...one, role: event.target.value } : one)),
                        ).catch(() => {})
                      }
                    />
                  </Field>
                )}
                <Button
                  size="small"
                  look="quiet"
                  pending={pending}
                  aria-label={`Remove ${nameOf(share.team_id)}`}
                  onClick={() => void onChange(shares.filter((one) => one !== share)).catch(() => {})}
                >
                  Remove
                </Button>
              </span>
            ) : (
              <span className="text-ink-2">{roleLabel(share.role)}</span>
            )}
          </div>
        ))}
        {mayManage && others.length > 0 && (
          <div className="flex items-end gap-2 py-3">
            <Field label="Share with a team" className="min-w-48 flex-1">
              <Select
                value={adding}
                onChange={(event) => setAdding(event.target.value)}
                options={[
                  { value: '', label: 'Choose a team' },
                  ...others.map(({ team_id, name }) => ({ value: team_id, label: name })),
                ]}
              />
            </Field>
            <Button
              disabled={adding === ''}
              pending={pending}
              onClick={() =>
                void onChange([...shares, { team_id: adding, role: roles[0]!.value }]).then(
                  () => setAdding(''),
                  () => {},
                )
              }
            >
              Share
            </Button>
          </div>
        )}
      </Card>
    </Section>
  )
}
