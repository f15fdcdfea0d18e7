import { useEffect, useState } from 'react'
import { api, invalidate, useApi } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Button } from '#web/ui/button.tsx'
import { cx } from '#web/ui/cx.ts'
import { Menu, MenuChoice, MenuGroup } from '#web/ui/menu.tsx'
import { toast } from '#web/ui/toast.tsx'
import { useWorkspaceId } from './names.tsx'

type Status = 'online' | 'away' | 'busy' | 'offline'

const words: Record<Status, string> = { online: 'Online', away: 'Away', busy: 'Busy', offline: 'Offline' }
const colours: Record<Status, string> = {
  online: 'border-transparent bg-success',
  away: 'border-transparent bg-waiting',
  busy: 'border-transparent bg-danger',
  offline: 'border-line-strong bg-transparent',
}

const RENEW_EVERY = 30_000

export function usePresence(workspaceId: string): ReadonlyMap<string, Status> {
  const there = useApi('listColleagues', { workspace_id: workspaceId, limit: 200 }, { refetchInterval: 15_000 })
  return new Map((there.data?.items ?? []).map(({ user_id, status }) => [user_id, status]))
}

export const PresenceDot = ({ status = 'offline' }: { status?: Status | undefined }) => (
  <span
    role="img"
    aria-label={words[status]}
    title={words[status]}
    className={cx('size-2 shrink-0 rounded-full border', colours[status])}
  />
)

/** What colleagues see of oneself. It holds for a minute, so it is said again while this page is open. */
export function OwnPresence() {
  const { userId } = useRole()
  const workspaceId = useWorkspaceId()
  const shown = usePresence(workspaceId).get(userId)
  const [chosen, setChosen] = useState<Status>('online')
  const status = chosen === 'online' ? (shown && shown !== 'offline' ? shown : chosen) : chosen
  // biome-ignore lint/correctness/useExhaustiveDependencies: another workspace is another presence
  useEffect(() => {
    let gone = false
    const say = (): void => {
      api.recordPresence({ status: chosen }).then(
        () => !gone && void invalidate('listColleagues'),
        () => {},
      )
    }
    say()
    const timer = setInterval(say, RENEW_EVERY)
    return () => {
      gone = true
      clearInterval(timer)
    }
  }, [chosen, workspaceId])
  const choose = (next: Status): void => {
    setChosen(next)
    toast.done(`Colleagues see you as ${words[next].toLowerCase()}`)
  }
  return (
    <Menu
      trigger={
        <Button>
          <PresenceDot status={status} />
          {words[status]}
        </Button>
      }
    >
      <MenuGroup label="What colleagues see of you">
        <MenuChoice
          value={status}
          onChange={choose}
          options={(Object.keys(words) as Status[]).map((value) => ({ value, label: words[value] }))}
        />
      </MenuGroup>
    </Menu>
  )
}
