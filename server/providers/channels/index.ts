// Messaging channels: one vendor per file. A vendor says whether a request truly comes from its service, what people wrote in
// it, and how an answer is sent. Where it sends to is fixed when the program starts, never by a message.

export const channelNames = ['slack', 'telegram', 'whatsapp', 'discord', 'email', 'webhook'] as const
export type ChannelName = (typeof channelNames)[number]

export type ChannelConfig = { external_id: string; credentials: Readonly<Record<string, string>> }

export type InboundRequest = {
  headers: Readonly<Record<string, string | string[] | undefined>>
  body: Buffer
  now: Date
}

/** Where an answer goes, in the vendor's own terms. Kept with the conversation. */
export type Address = Record<string, string>

/** Something that was sent with a message: kept by the vendor under `ref`, or brought along as `content`. */
export type Attachment = { name: string; mediaType: string } & (
  | { ref: string }
  | { content: () => AsyncIterable<Buffer> }
)

export const MAX_ATTACHMENTS = 10
export const MAX_ATTACHMENT_BYTES = 25 * 1024 * 1024

export type InboundMessage = {
  /** The same for every repetition of the same message. */
  deliveryId: string
  /** One conversation of one person: what they say elsewhere, or others say here, is another one. */
  conversation: string
  /** With their language, where the vendor tells it. */
  sender: { id: string; name: string; locale?: string }
  /** Empty where the person sent something that is not text. */
  text: string
  files?: Attachment[]
  address: Address
  /** Nobody but the sender reads what is sent to the address. */
  direct?: boolean
}

/** Somebody pressed a button of a message of ours. The vendor says who, and some say where they alone can be answered. */
export type Press = { id: string; sender: InboundMessage['sender']; value: string; replyTo?: string }

/** A button: what stands on it, and what comes back when it is pressed. */
export type Choice = { label: string; value: string }

/** What the vendor is answered at once, and what people said. */
export type Inbound = { answer: InboundAnswer; messages: InboundMessage[]; press?: Press }
export type InboundAnswer = { contentType: 'application/json' | 'text/plain'; body: string }

export type OutboundMessage = {
  address: Address
  text: string
  /** The same on every attempt; passed on where the vendor knows such keys. */
  key: string
  /** Since when it has been tried, where an earlier attempt may have got through: a vendor that can be asked is asked. */
  triedSince?: Date
  workspaceId: string
  signal?: AbortSignal
}

/** Messages with buttons, which are changed once they were answered. */
export type Buttons = {
  /** Gives what the message is changed by. Throws ChannelFailure. */
  send(config: ChannelConfig, message: OutboundMessage & { choices: Choice[] }): Promise<string>
  /** Another text, and no buttons. Throws ChannelFailure. */
  change(
    config: ChannelConfig,
    message: { address: Address; ref: string; text: string; signal?: AbortSignal },
  ): Promise<void>
  /** What the person who pressed is told at once. */
  answer(press: Press, text: string): InboundAnswer
  /** Where the answer shows nothing: tells the person, and nobody else, why nothing came of it. Throws ChannelFailure. */
  refuse?(press: Press, text: string): Promise<void>
}

/** Begins what our buttons give back: another program of the same app may have buttons too. */
export const BUTTON_PREFIX = 'h1.'

export type Channel = {
  readonly name: ChannelName
  readonly title: string
  /** Every one of them is needed before the channel can be enabled. */
  readonly credentials: readonly string[]
  /** Longer texts are sent in parts. */
  readonly mostCharacters: number
  /** What is wrong with an external id, or null. */
  checkExternalId(externalId: string): string | null
  /**
   * How much is read of a request whose headers alone prove where it comes from; without this, as much as of any JSON. Throws
   * SignatureRefused.
   */
  maxBodyBytes?(request: Pick<InboundRequest, 'headers'>, config: ChannelConfig): number
  /** Throws SignatureRefused, or InboundMalformed where the sender is the right one and what they say makes no sense. */
  receive(request: InboundRequest, config: ChannelConfig): Promise<Inbound>
  /** The answer to the question with which the vendor checks the address. Throws SignatureRefused. */
  handshake?(query: Readonly<Record<string, string>>, config: ChannelConfig): InboundAnswer
  /** For somebody who has not written before; undefined where `to` cannot be one. */
  addressOf(to: string): Address | undefined
  /** False where answers have nowhere to go. */
  sends(config: Pick<ChannelConfig, 'external_id'>): boolean
  /** The bytes of an attachment, as its `ref` names it. Throws ChannelFailure, also while they are read. */
  fetchFile?(config: ChannelConfig, ref: string, signal: AbortSignal): Promise<AsyncIterable<Buffer>>
  /** Throws ChannelFailure. */
  send(config: ChannelConfig, message: OutboundMessage): Promise<void>
  /** Where the vendor knows them. */
  buttons?: Buttons
}

/** The request does not prove where it comes from. Why is nobody's business but the log's. */
export class SignatureRefused extends Error {}

export class InboundMalformed extends Error {}

/** `rate_limited` and `unavailable`: later. `refused`: the vendor will not take it, now or later. */
export class ChannelFailure extends Error {
  readonly code: 'rate_limited' | 'refused' | 'unavailable'
  readonly retryAfterS: number | undefined

  constructor(code: ChannelFailure['code'], message: string, more: { retryAfterS?: number; cause?: unknown } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause })
    this.code = code
    this.retryAfterS = more.retryAfterS
  }

  get retryable(): boolean {
    return this.code !== 'refused'
  }
}

export const json = (value: unknown): InboundAnswer => ({
  contentType: 'application/json',
  body: JSON.stringify(value),
})
export const plain = (body: string): InboundAnswer => ({ contentType: 'text/plain', body })
