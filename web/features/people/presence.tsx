import { useApi } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { choosePresence, type Status } from '#web/shell/presence.ts'
import { Button } from '#web/ui/button.tsx'
import { cx } from '#web/ui/cx.ts'
import { Menu, MenuChoice, MenuGroup } from '#web/ui/menu.tsx'
import { toast } from '#web/ui/toast.tsx'
import { inSentence } from '#web/words/language.ts'
import { useWorkspaceId } from './names.tsx'

export const presenceWords: Record<Status, string> = {
  online: 'Online',
  away: 'Away',
  busy: 'Busy',
  offline: 'Offline',
}
const colours: Record<Status, string> = {
  online: 'border-transparent bg-success',
  away: 'border-transparent bg-waiting',
  busy: 'border-transparent bg-danger',
  offline: 'border-line-strong bg-transparent',
}

export function usePresence(workspaceId: string): ReadonlyMap<string, Status> {
  const there = useApi('listColleagues', { workspace_id: workspaceId, limit: 200 }, { refetchInterval: 15_000 })
  return new Map((there.data?.items ?? []).map(({ user_id, status }) => [user_id, status]))
}

export const PresenceDot = ({ status = 'offline' }: { status?: Status | undefined }) => (
  <span
    role="img"
    aria-label={presenceWords[status]}
    title={presenceWords[status]}
    className={cx('size-2 shrink-0 rounded-full border', colours[status])}
  />
)

/** The user's own presence, as colleagues see it; the shell keeps reporting it. */
export function OwnPresence() {
  const { userId } = useRole()
  const status = usePresence(useWorkspaceId()).get(userId) ?? 'online'
  const choose = async (next: Status): Promise<void> => {
    try {
      await choosePresence(next)
      toast.done(`Colleagues see you as ${inSentence(presenceWords[next])}`)
    } catch (error) {
      toast.failed('Could not change your presence', error)
    }
  }
  return (
    <Menu
      trigger={
        <Button>
          <PresenceDot status={status} />
          {presenceWords[status]}
        </Button>
      }
    >
      <MenuGroup label="Your status">
        <MenuChoice
          value={status}
          onChange={choose}
          options={(Object.keys(presenceWords) as Status[]).map((value) => ({ value, label: presenceWords[value] }))}
        />
      </MenuGroup>
    </Menu>
  )
}
