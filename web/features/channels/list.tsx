import { Plus, Radio } from 'lucide-react'
import { useList } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { ButtonLink } from '#web/ui/button.tsx'
import { Page } from '#web/ui/page.tsx'
import { emptyWith, SearchBar, useSearchText } from '#web/ui/search.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { ChannelTable } from './table.tsx'

export function ChannelsPage() {
  const { canWrite } = useRole()
  const search = useSearchText()
  const channels = useList('listChannelConfigs', search.query)
  const add = canWrite && (
    <ButtonLink to="/channels/new" look="primary" icon={Plus}>
      Add channel
    </ButtonLink>
  )
  return (
    <Page
      title="Channels"
      description="Let a template answer messages from Slack, e-mail and other channels."
      actions={add}
    >
      <SearchBar search={search} rows={channels.data} />
      <Loaded of={channels} what="the channels">
        {(rows) => (
          <ChannelTable
            rows={rows}
            more={channels.more}
            empty={emptyWith(
              search,
              <Empty icon={Radio} title="No channels yet" action={add}>
                Connect Slack, Telegram, WhatsApp, Discord, e-mail or your own system.
              </Empty>,
            )}
          />
        )}
      </Loaded>
    </Page>
  )
}
