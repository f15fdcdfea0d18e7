import { NodeFailure } from '#engine/node'
import type { SendToChannel } from '#engine/nodes/channel-send'
import type { Database } from '#platform/db/pool'
import type { Channels } from '#providers/channels/channels'
import type { Outbox } from './outbox.ts'
import * as outboxStore from './outbox-store.ts'
import * as store from './store.ts'

const final = { retryable: false }

/** Queues the message under the node's own key, so that a repeated attempt queues nothing twice. */
export const makeSendToChannel =
  ({ db, channels, outbox }: { db: Database; channels: Channels; outbox: Outbox }): SendToChannel =>
  ({ workspaceId, configId, to, text, key }) =>
    db.tenant({ workspaceId, userId: null }, async (tx) => {
      // Searches only the workspace of the execution, so configs of other workspaces are not found.
      const config = await store.findUsable(tx, workspaceId, configId)
      if (!config) throw new NodeFailure('unknown_reference', 'There is no such channel in this workspace.', final)
      if (!config.enabled) throw new NodeFailure('channel_disabled', 'The channel is disabled; enable it first.', final)
      const channel = channels[config.channel]
      const address = channel.addressOf(to)
      if (!address)
        throw new NodeFailure('args_invalid', `"to" is not a recipient that ${channel.title} can reach.`, final)
      if (!channel.sends(config))
        throw new NodeFailure(
          'channel_disabled',
          'The external_id of this webhook is not an address, so messages cannot be sent to it.',
          final,
        )
      await outbox.queue(tx, { workspaceId, config, lane: `to:${to}`, key, address, text })
      const queued = await outboxStore.findSend(tx, workspaceId, config.config_id, `${key}:0`)
      return { channel: config.channel, state: queued?.state === 'sent' ? 'sent' : 'queued' }
    })
