import type { ListedTeam } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { RowMenu } from '#web/ui/row-menu.tsx'
import { deletionOf } from './deletion.ts'
import { useMayChange } from './role.ts'

export function TeamMenu({ team }: { team: ListedTeam }) {
  const { team_id, name } = team
  const mayChange = useMayChange()(team)
  const update = useChange('updateTeam', { stale: ['getTeam', 'listTeams'], done: 'Saved' })
  const remove = useChange('deleteTeam', { stale: ['listTeams'], done: `${name} was deleted` })
  return (
    <RowMenu
      name={name}
      path={`/teams/${team_id}`}
      rename={mayChange && ((next) => update.mutateAsync({ team_id, name: next }))}
      removal={mayChange && { ...deletionOf(team), onConfirm: () => remove.mutateAsync({ team_id }) }}
    />
  )
}
