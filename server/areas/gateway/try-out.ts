import type { z } from 'zod'
import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import { invalid, problem } from '#platform/errors'
import { type Context, scopeOf } from '#platform/http/context'
import { newId } from '#platform/ids'
import type { Channels } from '#providers/channels/channels'
import { ChannelFailure } from '#providers/channels/index'
import type { CredentialBox } from './credentials.ts'
import type { TestMessage, TestOutcome } from './schema.ts'
import * as store from './store.ts'

const SEND_WITHIN = 20 * SECOND

/** Sends one message while the user waits, and returns at once whether the credentials work, in the vendor's words. */
export const makeTryOut =
  ({ db, channels, box }: { db: Database; channels: Channels; box: CredentialBox }) =>
  async (ctx: Context, input: { config_id: string } & z.output<typeof TestMessage>): Promise<TestOutcome> => {
    const { workspace_id } = ctx.workspace
    const config = await db.tenant(scopeOf(ctx), (tx) => store.findUsable(tx, workspace_id, input.config_id))
    if (!config) throw problem('not_found')
    const channel = channels[config.channel]
    if (!config.enabled) throw problem('channel_disabled', 'Switch the channel on before you try it.')
    const address = channel.addressOf(input.to)
    if (!address) throw invalid([{ path: '/to', message: `is not a recipient that ${channel.title} can reach` }])
    if (!channel.sends(config))
      throw invalid([{ path: '/to', message: 'cannot be reached: the external_id of this webhook is not an address' }])
    try {
      await channel.send(
        { external_id: config.external_id, credentials: box.open(config) },
        {
          address,
          text: input.text,
          key: newId(),
          workspaceId: workspace_id,
          signal: AbortSignal.any([ctx.stepAside(), AbortSignal.timeout(SEND_WITHIN)]),
        },
      )
      return { state: 'sent', problem: null }
    } catch (error) {
      if (error instanceof ChannelFailure) return { state: 'failed', problem: error.message }
      ctx.log.warn({ err: error }, 'a test message could not be sent')
      return { state: 'failed', problem: `${channel.title} could not be reached in time.` }
    }
  }

export type TryOut = ReturnType<typeof makeTryOut>
