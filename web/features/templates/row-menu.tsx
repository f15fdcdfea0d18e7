import { Code, Radio } from 'lucide-react'
import type { Template } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { MenuItem } from '#web/ui/menu.tsx'
import { RowMenu } from '#web/ui/row-menu.tsx'
import { deletionOf } from './deletion.ts'

export function TemplateMenu({ template }: { template: Template }) {
  const { userId, isOwner, canWrite } = useRole()
  const { template_id, name } = template
  const remove = useChange('deleteTemplate', {
    stale: ['listTemplates', 'listChannelConfigs'],
    done: `${name} was deleted`,
  })
  const mayManage = isOwner || (canWrite && template.owner_id === userId)
  return (
    <RowMenu
      name={name}
      path={`/templates/${template_id}`}
      removal={mayManage && { ...deletionOf(template), onConfirm: () => remove.mutateAsync({ template_id }) }}
    >
      <MenuItem icon={Code} to={`/templates/${template_id}/widget`}>
        Widget
      </MenuItem>
      <MenuItem icon={Radio} to={`/templates/${template_id}/channels`}>
        Channels
      </MenuItem>
    </RowMenu>
  )
}
