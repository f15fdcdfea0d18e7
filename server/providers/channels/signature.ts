import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { SECOND } from '#platform/clock'
import { SignatureRefused } from './index.ts'

/** The maximum difference between the time of a signed request and now, in the past or in the future. */
const REPLAY_WINDOW = 300 * SECOND

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Compares in constant time, even texts of different lengths. An empty or absent text equals nothing. */
export const equalInConstantTime = (given: string | undefined, expected: string | undefined): boolean =>
  given !== undefined &&
  expected !== undefined &&
  given !== '' &&
  expected !== '' &&
  timingSafeEqual(digest(given), digest(expected))

/** Returns a stored secret. Without a stored secret, every signature is refused. */
export function secretOf(credentials: Readonly<Record<string, string>>, name: string): string {
  const secret = credentials[name]
  if (secret === undefined || secret === '') throw new SignatureRefused(`no ${name} is stored`)
  return secret
}

/** Returns the single value of a header. A repeated header counts as a forgery. */
export function headerOf(headers: Readonly<Record<string, string | string[] | undefined>>, name: string): string {
  const value = headers[name]
  if (typeof value !== 'string' || value === '') throw new SignatureRefused(`there is no ${name}`)
  return value
}

export function requireFresh(seconds: string, now: Date): void {
  if (!/^\d{1,12}$/.test(seconds) || Math.abs(now.getTime() - Number(seconds) * SECOND) > REPLAY_WINDOW)
    throw new SignatureRefused('the request is too old')
}

export const hmac = (key: string | Buffer, ...parts: (string | Buffer)[]): Buffer => {
  const mac = createHmac('sha256', key)
  for (const part of parts) mac.update(part)
  return mac.digest()
}
