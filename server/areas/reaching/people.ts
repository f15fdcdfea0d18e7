import type { Queued } from '#areas/gateway/outbox'
import type { Json } from '#model/definition'
import { enterScope } from '#platform/auth/scope'
import type { Database, Tx } from '#platform/db/pool'
import { isProblem } from '#platform/errors'
import { hashSecret, newId } from '#platform/ids'
import { languageOf, mailWords } from '#platform/mail-language'
import type { InboundMessage, Press } from '#providers/channels/index'
import { channelTextOf } from './channel-text.ts'
import { type AnswerParts, answerGateOrQuestion, readGateOrQuestion } from './gate-or-question.ts'
import { LINK_TEXT } from './identity-schema.ts'
import * as identities from './identity-store.ts'
import * as store from './store.ts'
import type { InteractionTokens } from './tokens.ts'

// What members of the workspace do in a channel besides talking with its assistant: they link their account and press
// buttons. The vendor has authenticated them before this code runs.

const NOT_KNOWN = 'This button no longer works.'
const NOT_YOURS = 'This was sent to somebody else.'
const SIGN_IN = 'This workspace asks for a second factor. Answer in the console.'

/** The response to the person, and whether their answer was accepted. */
export type Pressed = { text: string; isTaken: boolean }
const refused = (text: string): Pressed => ({ text, isTaken: false })

/** A refusal with a text for the person. It is thrown, so that the transaction is rolled back. */
class NotTaken extends Error {}

type At = { workspaceId: string; config: Queued['config'] }

export type PeopleParts = AnswerParts & {
  db: Database
  tokens: InteractionTokens
  queue(tx: Tx, queued: Queued): Promise<void>
}

export function makePeople(parts: PeopleParts) {
  const { db, tokens } = parts

  async function press({ workspaceId, config }: At, { sender, value }: Press): Promise<Pressed> {
    const named = tokens.readButton(workspaceId, value)
    const known = mailWords(languageOf(sender.locale))
    if (!named) return refused(known.say(NOT_KNOWN))
    return db.tenant({ workspaceId, userId: null }, async (tx) => {
      const message = await store.findMessage(tx, workspaceId, named.messageId)
      const channelAddress =
        message?.identity_id && (await identities.findChannelAddress(tx, workspaceId, message.identity_id))
      if (!message || !channelAddress || channelAddress.config_id !== config.config_id)
        return refused(known.say(NOT_KNOWN))
      const words = mailWords(message.language)
      const { say, notice } = words
      if (channelAddress.sender_id !== sender.id) return refused(say(NOT_YOURS))
      const matter = await readGateOrQuestion(tx, message)
      if (!matter || message.payload_sha256 === null) return refused(say(NOT_KNOWN))
      if (message.requires_factor) return refused(say(SIGN_IN))
      if (matter.status !== 'open') return refused(`${notice(matter.outcome ?? '')}.`)
      const { choices } = channelTextOf({ ...message, workspace: '', matter, mayPress: true, consoleUrl: '', words })
      const choice = choices[named.choice]
      if (!choice) return refused(say(NOT_KNOWN))
      const given =
        matter.kind === 'approval'
          ? { decision: choice.response as 'approve' | 'reject' }
          : { response: choice.response as Json }
      const evidence = { via: config.channel, sender_id: sender.id }
      try {
        await answerGateOrQuestion(parts, tx, message, matter, given, message.payload_sha256, evidence)
      } catch (error) {
        throw isProblem(error) ? new NotTaken(notice(error.message)) : error
      }
      return { text: say('{0}: thank you.', [choice.label]), isTaken: true }
    })
  }

  return {
    /** Returns the response to the person. A refusal is a text, never a failure of the vendor's request. */
    async press(at: At, pressed: Press): Promise<Pressed> {
      try {
        return await press(at, pressed)
      } catch (error) {
        if (error instanceof NotTaken || isProblem(error)) return refused(error.message)
        throw error
      }
    },

    isLink: ({ text }: Pick<InboundMessage, 'text'>): boolean => LINK_TEXT.test(text),

    /** Links an account. The reply is sent to the channel, and is never part of a conversation with the assistant. */
    async link({ workspaceId, config }: At, { text, sender, address, direct }: InboundMessage): Promise<void> {
      const code = LINK_TEXT.exec(text)![1]!.toLowerCase()
      await db.tenant({ workspaceId, userId: null }, async (tx) => {
        const tell = (said: string): Promise<void> =>
          parts.queue(tx, {
            workspaceId,
            config,
            lane: `link:${sender.id}`,
            key: `link:${newId()}`,
            address,
            text: said,
          })
        // Before the code identifies the person, only the vendor knows their language.
        const { say } = mailWords(languageOf(sender.locale))
        if (direct !== true)
          return tell(say('Write this to me directly, not where others read it. Ask for a new code first.'))
        const taken = await identities.takeCode(tx, workspaceId, config.config_id, hashSecret(`${workspaceId}:${code}`))
        if (!taken) return tell(say('This code is no longer valid. Request a new one in the console.'))
        await enterScope(tx, { workspaceId, userId: taken.user_id })
        const { name, language } = await identities.bind(tx, workspaceId, {
          userId: taken.user_id,
          configId: config.config_id,
          sender,
          address,
        })
        const own = mailWords(language ?? languageOf(sender.locale))
        await tell(own.say('Done. You are {0} here. Votes and questions for you are sent to this chat.', [name]))
      })
    },
  }
}

export type People = ReturnType<typeof makePeople>
