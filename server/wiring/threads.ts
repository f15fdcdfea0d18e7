import type { Conversations } from '#areas/conversations/types'
import { makeCredentials } from '#areas/gateway/credentials'
import { type KeepFile, makeInbound } from '#areas/gateway/inbound'
import { type InboxOptions, makeInbox } from '#areas/gateway/inbox'
import { makeWorkLoop } from '#areas/gateway/loop'
import { makeSendToChannel } from '#areas/gateway/node'
import { makeOutbox } from '#areas/gateway/outbox'
import { CHANNEL_HINTS } from '#areas/gateway/outbox-store'
import { gatewayRoutes } from '#areas/gateway/routes'
import { accessLevelInChannel, makeGateway } from '#areas/gateway/service'
import { makeTryOut } from '#areas/gateway/try-out'
import { inboxRoutes } from '#areas/inbox/routes'
import { makeInbox as makeTeamInbox } from '#areas/inbox/service'
import type { Allowances } from '#areas/payments/allowances'
import type { AnswerParts } from '#areas/reaching/gate-or-question'
import { makePeople } from '#areas/reaching/people'
import { makeInteractionTokens } from '#areas/reaching/tokens'
import { threadAudioRoutes } from '#areas/threads/audio-routes'
import { makeClips } from '#areas/threads/clips'
import { threadMemberRoutes } from '#areas/threads/member-routes'
import { addToThread, makeThreadMembers, reassignThreads } from '#areas/threads/members'
import { makePlayback } from '#areas/threads/playback'
import { threadRoutes } from '#areas/threads/routes'
import { accessLevelInThread, type FilesGiven, makeThreads } from '#areas/threads/service'
import { makeThreadSpeech } from '#areas/threads/speech'
import type { ReferenceCheck } from '#areas/workflows/definition-check'
import { makeChannelSend } from '#engine/nodes/channel-send'
import type { AnyKind } from '#engine/nodes/kind'
import type { AccessLevelFinders } from '#platform/access/check'
import type { Database } from '#platform/db/pool'
import type { AnyRoute } from '#platform/http/route'
import { fromWire } from '#platform/ids'
import type { Logger } from '#platform/log'
import type { Vault } from '#platform/secrets'
import type { wireIdentity } from './identity.ts'
import type { Providers } from './providers.ts'

export type ThreadWiringOptions = {
  db: Database
  vault: Vault
  log: Logger
  providers: Providers
  identity: Pick<ReturnType<typeof wireIdentity>, 'invitations' | 'onAccepted' | 'onRemoved'>
  conversations: Conversations
  allowances: Allowances
  /** The areas that answer gates and questions when a user presses a button. */
  answers: AnswerParts
  /** The maximum size of a JSON message, in bytes. */
  maxBytes: number
  files: { given: FilesGiven; adopt: InboxOptions['adoptFiles']; keep: KeepFile }
}

/** A message mostly waits for a vendor or a model. */
const CHANNEL_PLACES = { atOnce: 32, ofOne: 8 }

/** Wires the threads of people, and the channels through which external people write. */
export function wireThreads(options: ThreadWiringOptions) {
  const { db, vault, log, providers, identity, conversations, files } = options
  const { channels } = providers

  const speech = makeThreadSpeech(providers)
  const playback = makePlayback({ key: vault.derive('audio-playback') })
  const clips = makeClips({ db, blobs: providers.blobs, speech, playback })
  const threads = makeThreads({
    conversations,
    speech,
    clips,
    playback,
    allowances: options.allowances,
    filesGiven: files.given,
  })
  identity.onAccepted.thread = addToThread
  identity.onRemoved.push(reassignThreads)

  const box = makeCredentials(vault)
  const outbox = makeOutbox({ db, log, channels, box })
  const inbox = makeInbox({
    db,
    log,
    channels,
    box,
    conversations,
    outbox,
    keepFile: files.keep,
    adoptFiles: files.adopt,
  })
  conversations.onPosted(outbox.onPosted)
  const people = makePeople({ db, tokens: makeInteractionTokens({ vault }), queue: outbox.queue, ...options.answers })
  const loops = [
    makeWorkLoop({ ...CHANNEL_PLACES, what: 'messages out', log, find: outbox.findDue, work: outbox.sendOne }),
    makeWorkLoop({ ...CHANNEL_PLACES, what: 'messages in', log, find: inbox.findDue, work: inbox.takeOne }),
  ]
  const wake = (): void => {
    for (const loop of loops) loop.wake()
  }
  let stopListening = async (): Promise<void> => {}

  const sendToChannel = makeSendToChannel({ db, channels, outbox })
  const kinds: AnyKind[] = [makeChannelSend({ sendToChannel })]
  const accessLevels: AccessLevelFinders = { thread: accessLevelInThread, channel: accessLevelInChannel }
  const routes: AnyRoute[] = [
    ...threadRoutes(threads),
    ...threadMemberRoutes(makeThreadMembers(identity)),
    ...threadAudioRoutes(threads, clips),
    ...inboxRoutes(makeTeamInbox({ conversations })),
    ...gatewayRoutes(
      makeGateway({ channels, box }),
      makeInbound({ db, channels, box, maxBytes: options.maxBytes, keepFile: files.keep, people }),
      makeTryOut({ db, channels, box }),
    ),
  ]
  return {
    routes,
    accessLevels,
    kinds,
    sendToChannel,
    references,
    tasks: {
      'clips without a message': clips.cleanUp,
      'old messages of channels': () => db.maintain('select forget_channel_work()'),
    },
    /** Call this after the engine has started. Continues the messages that were left at the last stop. */
    async start(): Promise<void> {
      stopListening = await db.listen(CHANNEL_HINTS, wake)
      for (const loop of loops) loop.start()
    },
    async stop(): Promise<void> {
      await stopListening()
      outbox.stop()
      inbox.stop()
      await Promise.all(loops.map((loop) => loop.stop()))
    },
  }
}

const references: ReadonlyMap<string, ReferenceCheck> = new Map([
  [
    'chan',
    async (tx, workspaceId, text) => {
      const uuid = fromWire('chan', text)
      const sql = 'select from gateway_channels where workspace_id = $1 and config_id = $2'
      return uuid !== undefined && (await tx.maybe(sql, [workspaceId, uuid])) !== undefined
    },
  ],
])
