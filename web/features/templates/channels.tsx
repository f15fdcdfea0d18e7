import { Plus } from 'lucide-react'
import { useList } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { ButtonLink } from '#web/ui/button.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { ChannelTable } from '../channels/table.tsx'
import { TemplateShell } from './template-page.tsx'

export const TemplateChannelsPage = () => (
  <TemplateShell section="Channels">{(template) => <Channels templateId={template.template_id} />}</TemplateShell>
)

function Channels({ templateId }: { templateId: string }) {
  const { canWrite } = useRole()
  const channels = useList('listChannelConfigsOfTemplate', { template_id: templateId })
  const add = canWrite && (
    <ButtonLink size="small" to="/channels/new" search={{ template_id: templateId }} icon={Plus}>
      Add channel
    </ButtonLink>
  )
  return (
    <Loaded of={channels} what="the channels">
      {(rows) => (
        <div className="flex flex-col gap-3">
          <ChannelTable
            rows={rows}
            more={channels.more}
            empty={
              <Empty title="No channels use this template" action={add}>
                Connect Slack, Telegram, WhatsApp, Discord, e-mail or your own system.
              </Empty>
            }
          />
          {rows.length > 0 && <div>{add}</div>}
        </div>
      )}
    </Loaded>
  )
}
