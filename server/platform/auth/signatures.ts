import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

// Signatures that senders of webhooks put on their requests. The functions are pure: the clock and the secret are
// arguments. They verify the bytes of the body as received, before anything parses them.

export const presetNames = ['github', 'stripe', 'slack', 'shopify', 'standard', 'custom'] as const
export type PresetName = (typeof presetNames)[number]

export const algorithms = ['sha1', 'sha256', 'sha512'] as const
export const encodings = ['hex', 'base64'] as const

export type HmacSettings = {
  preset: PresetName
  header?: string | undefined
  algorithm?: (typeof algorithms)[number] | undefined
  encoding?: (typeof encodings)[number] | undefined
  prefix?: string | undefined
  tolerance_s?: number | undefined
}

export const DEFAULT_TOLERANCE_S = 300

/** Checks whether the preset signs a timestamp, which lets the receiver refuse an old request. */
export const hasTimestamp = (preset: PresetName): boolean => presets[preset].timed

type Headers = Record<string, string | string[] | undefined>

/** What a request claims: its signatures, and the bytes that are signed in front of the body. */
type Claim = { signatures: string[]; before: string; timestamp?: string }

type Preset = {
  timed: boolean
  /** Undefined if a header is missing or cannot be read. */
  claim(headers: Headers, settings: HmacSettings): Claim | undefined
  key(secret: string): Buffer
}

/** The maximum number of signatures of one header that are compared. A key rotation needs fewer. */
const MAX_SIGNATURES = 8

const one = (headers: Headers, name: string): string | undefined => {
  const value = headers[name.toLowerCase()]
  return typeof value === 'string' && value !== '' ? value : undefined
}

const utf8 = (secret: string): Buffer => Buffer.from(secret)

/** Reads the single header of a preset without a timestamp, and removes the prefix of the signature. */
const plain =
  (header: string, prefix: string): Preset['claim'] =>
  (headers) => {
    const value = one(headers, header)
    return value?.startsWith(prefix) ? { signatures: [value.slice(prefix.length)], before: '' } : undefined
  }

const presets: Record<PresetName, Preset> = {
  github: { timed: false, claim: plain('x-hub-signature-256', 'sha256='), key: utf8 },
  shopify: { timed: false, claim: plain('x-shopify-hmac-sha256', ''), key: utf8 },
  custom: {
    timed: false,
    claim: (headers, { header = '', prefix = '' }) => plain(header, prefix)(headers, { preset: 'custom' }),
    key: utf8,
  },
  slack: {
    timed: true,
    claim: (headers) => {
      const timestamp = one(headers, 'x-slack-request-timestamp')
      const value = one(headers, 'x-slack-signature')
      if (timestamp === undefined || !value?.startsWith('v0=')) return undefined
      return { signatures: [value.slice(3)], before: `v0:${timestamp}:`, timestamp }
    },
    key: utf8,
  },
  stripe: {
    timed: true,
    claim: (headers) => {
      const parts = (one(headers, 'stripe-signature') ?? '').split(',').map((part) => part.trim())
      const valuesOf = (name: string): string[] =>
        parts.filter((part) => part.startsWith(`${name}=`)).map((part) => part.slice(name.length + 1))
      const [timestamp] = valuesOf('t')
      const signatures = valuesOf('v1')
      if (timestamp === undefined || signatures.length === 0) return undefined
      return { signatures, before: `${timestamp}.`, timestamp }
    },
    key: utf8,
  },
  standard: {
    timed: true,
    claim: (headers) => {
      const id = one(headers, 'webhook-id')
      const timestamp = one(headers, 'webhook-timestamp')
      const signatures = (one(headers, 'webhook-signature') ?? '')
        .split(' ')
        .filter((part) => part.startsWith('v1,'))
        .map((part) => part.slice(3))
      if (id === undefined || timestamp === undefined || signatures.length === 0) return undefined
      return { signatures, before: `${id}.${timestamp}.`, timestamp }
    },
    key: (secret) => Buffer.from(secret.replace(/^whsec_/, ''), 'base64'),
  },
}

const encodingOf = ({ preset, encoding }: HmacSettings): 'hex' | 'base64' => {
  if (preset === 'custom') return encoding ?? 'hex'
  return preset === 'shopify' || preset === 'standard' ? 'base64' : 'hex'
}

/** Compares digests of equal length, so that the time of the comparison reveals neither content nor length. */
export const equalSecrets = (given: string, kept: string): boolean =>
  timingSafeEqual(createHash('sha256').update(given).digest(), createHash('sha256').update(kept).digest())

/** Returns why a secret cannot be used with a preset, or undefined if it can. */
export function secretFault(preset: PresetName, secret: string): string | undefined {
  if (preset !== 'standard') return undefined
  const text = secret.replace(/^whsec_/, '')
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0
  return isBase64 && Buffer.from(text, 'base64').length >= 16
    ? undefined
    : 'must be base64 of at least 16 bytes, with or without whsec_ before it'
}

/** Returns why the request is refused, in words that reveal no secret, or undefined if its signature is correct. */
export function signatureFault(
  settings: HmacSettings,
  { headers, body, secret, now }: { headers: Headers; body: Buffer; secret: string; now: number },
): string | undefined {
  const preset = presets[settings.preset]
  const claim = preset.claim(headers, settings)
  if (!claim) return 'The signature header is missing or malformed.'
  if (preset.timed) {
    const tolerance = settings.tolerance_s ?? DEFAULT_TOLERANCE_S
    if (!/^\d{1,12}$/.test(claim.timestamp ?? '')) return 'The timestamp of the signature is not valid.'
    if (Math.abs(now / 1000 - Number(claim.timestamp)) > tolerance)
      return `The timestamp of the signature is more than ${tolerance} s away from the current time.`
  }
  const algorithm = settings.preset === 'custom' ? (settings.algorithm ?? 'sha256') : 'sha256'
  const expected = createHmac(algorithm, preset.key(secret)).update(claim.before).update(body).digest()
  const encoding = encodingOf(settings)
  let right = false
  for (const signature of claim.signatures.slice(0, MAX_SIGNATURES)) {
    const given = Buffer.from(signature, encoding)
    if (given.length === expected.length && timingSafeEqual(given, expected)) right = true
  }
  return right ? undefined : 'The signature does not match the body and the secret.'
}

/** Checks whether an `Authorization: Basic` header contains this name and this password. */
export function isBasic(header: string | undefined, username: string, password: string): boolean {
  const text = Buffer.from(/^Basic +([A-Za-z0-9+/=]+) *$/i.exec(header ?? '')?.[1] ?? '', 'base64').toString()
  const colon = text.indexOf(':')
  const names = equalSecrets(colon < 0 ? '' : text.slice(0, colon), username)
  const passwords = equalSecrets(colon < 0 ? '' : text.slice(colon + 1), password)
  return names && passwords && colon >= 0
}
