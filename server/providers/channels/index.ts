// Messaging channels, one vendor per file. Each vendor verifies that a request comes from its service, reads the
// messages in the request, and sends answers. The destination of answers is fixed when the program starts, never by a
// message.

export const channelNames = ['slack', 'telegram', 'whatsapp', 'discord', 'email', 'webhook'] as const
export type ChannelName = (typeof channelNames)[number]

export type ChannelConfig = { external_id: string; credentials: Readonly<Record<string, string>> }

export type InboundRequest = {
  headers: Readonly<Record<string, string | string[] | undefined>>
  body: Buffer
  now: Date
}

/** The destination of an answer, in the vendor's own terms. Stored with the conversation. */
export type Address = Record<string, string>

/** A file sent with a message: either stored by the vendor under `ref`, or included as `content`. */
export type Attachment = { name: string; mediaType: string } & (
  | { ref: string }
  | { content: () => AsyncIterable<Buffer> }
)

export const MAX_ATTACHMENTS = 10
export const MAX_ATTACHMENT_BYTES = 25 * 1024 * 1024

export type InboundMessage = {
  /** The same id for every redelivery of the same message. */
  deliveryId: string
  /**
   * One conversation with one person. The same person in another place, or another person here, is another
   * conversation.
   */
  conversation: string
  /** Includes the person's language if the vendor reports it. */
  sender: { id: string; name: string; locale?: string }
  /** Empty if the person sent something that is not text. */
  text: string
  files?: Attachment[]
  address: Address
  /** True if only the sender reads the messages sent to the address. */
  direct?: boolean
}

/**
 * A person pressed a button of one of our messages. The vendor names the person; some vendors also give an address for
 * a private answer.
 */
export type Press = { id: string; sender: InboundMessage['sender']; value: string; replyTo?: string }

/** A button: its label, and the value that the vendor returns when the button is pressed. */
export type Choice = { label: string; value: string }

/** One of our messages that the vendor accepted and later could not deliver, and the reason. */
export type Undelivered = { reportId: string; reason: string }

/** The immediate response to the vendor, and what the request contains. */
export type Inbound = {
  answer: InboundAnswer
  messages: InboundMessage[]
  press?: Press
  undelivered?: Undelivered[]
}
export type InboundAnswer = { contentType: 'application/json' | 'text/plain'; body: string }

export type OutboundMessage = {
  address: Address
  text: string
  /** The same key on every attempt. It is passed on to vendors that support such keys. */
  key: string
  /**
   * The time of the first attempt, if an earlier attempt may have succeeded. Vendors that can look up messages do so
   * first.
   */
  triedSince?: Date
  /** A uuid that vendors with later reports about a message return with them. */
  reportId?: string
  workspaceId: string
  signal?: AbortSignal
}

/** Messages with buttons, which are changed after they are answered. */
export type Buttons = {
  /** Returns a reference with which the message can be changed. Throws ChannelFailure. */
  send(config: ChannelConfig, message: OutboundMessage & { choices: Choice[] }): Promise<string>
  /** Replaces the text and removes the buttons. Throws ChannelFailure. */
  change(
    config: ChannelConfig,
    message: { address: Address; ref: string; text: string; signal?: AbortSignal },
  ): Promise<void>
  /** Returns the immediate response for the person who pressed the button. */
  answer(press: Press, text: string): InboundAnswer
  /**
   * For vendors whose immediate response is not shown: tells only this person why the press had no effect. Throws
   * ChannelFailure.
   */
  refuse?(press: Press, text: string): Promise<void>
}

/** The prefix of our button values, because another program of the same app may also have buttons. */
export const BUTTON_PREFIX = 'h1.'

export type Channel = {
  readonly name: ChannelName
  readonly title: string
  /** The names of the credentials, all of which are required before the channel can be enabled. */
  readonly credentials: readonly string[]
  /** The maximum length of a message. Longer texts are sent in parts. */
  readonly mostCharacters: number
  /** Returns the problem with an external id, or null. */
  checkExternalId(externalId: string): string | null
  /**
   * Returns the maximum body size of a request whose headers alone prove its origin. Without this function, the limit
   * for any JSON body applies. Throws SignatureRefused.
   */
  maxBodyBytes?(request: Pick<InboundRequest, 'headers'>, config: ChannelConfig): number
  /** Throws SignatureRefused, or InboundMalformed if the sender is verified but the content is invalid. */
  receive(request: InboundRequest, config: ChannelConfig): Promise<Inbound>
  /** Returns the response to the request with which the vendor verifies the address. Throws SignatureRefused. */
  handshake?(query: Readonly<Record<string, string>>, config: ChannelConfig): InboundAnswer
  /** Returns the address of a person who has not written before. Undefined if `to` is not a valid recipient. */
  addressOf(to: string): Address | undefined
  /** Returns false if there is no destination for answers. */
  sends(config: Pick<ChannelConfig, 'external_id'>): boolean
  /**
   * Returns the bytes of the attachment that `ref` names. Throws ChannelFailure, also while the bytes are being read.
   */
  fetchFile?(config: ChannelConfig, ref: string, signal: AbortSignal): Promise<AsyncIterable<Buffer>>
  /** Throws ChannelFailure. */
  send(config: ChannelConfig, message: OutboundMessage): Promise<void>
  /** Absent if the vendor has no buttons. */
  buttons?: Buttons
}

/** The request does not prove its origin. The reason is only logged, never returned to the sender. */
export class SignatureRefused extends Error {}

export class InboundMalformed extends Error {}

/** `rate_limited` and `unavailable`: can be retried later. `refused`: the vendor will never accept the message. */
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
