import { Power } from 'lucide-react'
import type { ChannelConfig } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { MenuItem } from '#web/ui/menu.tsx'
import { RowMenu } from '#web/ui/row-menu.tsx'
import { deletion, staleLists, useChannelSwitch } from './actions.ts'

export function ChannelMenu({ channel, name }: { channel: ChannelConfig; name: string }) {
  const { canWrite } = useRole()
  const { config_id, enabled } = channel
  const toggle = useChannelSwitch()
  const remove = useChange('deleteChannelConfig', {
    stale: staleLists,
    done: 'The channel was deleted',
  })
  if (!canWrite) return null
  return (
    <RowMenu
      name={name}
      path={`/channels/${config_id}`}
      removal={{ ...deletion, onConfirm: () => remove.mutateAsync({ config_id }) }}
    >
      <MenuItem icon={Power} onSelect={() => toggle.mutate({ config_id, enabled: !enabled })}>
        {enabled ? 'Switch off' : 'Switch on'}
      </MenuItem>
    </RowMenu>
  )
}
