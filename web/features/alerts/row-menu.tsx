import { BellOff, BellRing, Pencil, Power } from 'lucide-react'
import { useState } from 'react'
import type { AlertRule } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { MenuItem } from '#web/ui/menu.tsx'
import { RowMenu } from '#web/ui/row-menu.tsx'
import { AlertDialog } from './dialog.tsx'
import { isSilenced } from './words.ts'

const HOUR = 60 * 60 * 1000

export function AlertMenu({ rule }: { rule: AlertRule }) {
  const { rule_id, name, enabled } = rule
  const [editing, setEditing] = useState(false)
  const update = useChange('updateAlertRule', {
    stale: ['listAlertRules'],
    done: 'Saved',
    failed: 'Could not change the rule',
  })
  const remove = useChange('deleteAlertRule', { stale: ['listAlertRules'], done: 'The alert rule was deleted' })
  const silenced = isSilenced(rule)
  const silence = (): void =>
    update.mutate({ rule_id, silenced_until: silenced ? null : new Date(Date.now() + HOUR).toISOString() })
  return (
    <>
      <RowMenu
        name={name}
        removal={{
          title: `Delete ${name}?`,
          consequence: 'It no longer notifies anyone.',
          action: 'Delete alert rule',
          onConfirm: () => remove.mutateAsync({ rule_id }),
        }}
      >
        <MenuItem icon={Pencil} onSelect={() => setEditing(true)}>
          Change…
        </MenuItem>
        {enabled && (
          <MenuItem icon={silenced ? BellRing : BellOff} onSelect={silence}>
            {silenced ? 'End the silence' : 'Silence for an hour'}
          </MenuItem>
        )}
        <MenuItem icon={Power} onSelect={() => update.mutate({ rule_id, enabled: !enabled })}>
          {enabled ? 'Switch off' : 'Switch on'}
        </MenuItem>
      </RowMenu>
      {editing && <AlertDialog rule={rule} onClose={() => setEditing(false)} />}
    </>
  )
}
