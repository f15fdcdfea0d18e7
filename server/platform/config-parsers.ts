import { isIP } from 'node:net'
import { canonicalAddress } from './db/address.ts'

// Parsers for the text of settings. docs/settings.md lists the allowed values.

export type Parser<T> = { allowed: string; parse(text: string): T | undefined }

export const text: Parser<string> = { allowed: 'any text', parse: (value) => value }
export const secretText = (minLength: number): Parser<string> => ({
  allowed: `at least ${minLength} printable characters without spaces`,
  parse: (value) => (value.length >= minLength && /^[\x21-\x7e]+$/.test(value) ? value : undefined),
})
export const oneOf = <const T extends string>(...values: T[]): Parser<T> => ({
  allowed: values.join(' | '),
  parse: (value) => values.find((candidate) => candidate === value),
})
export const integer = (least: number, most: number): Parser<number> => ({
  allowed: `a whole number from ${least} to ${most}`,
  parse: (value) =>
    /^\d+$/.test(value) && Number(value) >= least && Number(value) <= most ? Number(value) : undefined,
})
export const list: Parser<string[]> = {
  allowed: 'a list separated by commas',
  parse: (value) =>
    value
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== ''),
}
export const emails: Parser<string[]> = {
  allowed: 'e-mail addresses separated by commas',
  parse: (value) => {
    const entries = list.parse(value)!.map((entry) => entry.toLowerCase())
    return entries.every((entry) => /^[^\s@]+@[^\s@]+$/.test(entry)) ? entries : undefined
  },
}
/** Checks the spelling that requests use. Any other spelling would match nothing. */
const isTarget = (entry: string): boolean => {
  const [, host, literal, port] = /^(\[(.+)\]|[\w.-]+):([1-9]\d{0,4})$/.exec(entry) ?? []
  return host !== undefined && (literal === undefined || isIP(literal) === 6) && Number(port) <= 65_535
}
export const targets: Parser<string[]> = {
  allowed: 'a list of host:port separated by commas',
  parse: (value) => {
    const entries = list.parse(value)!
    return entries.every(isTarget) ? entries : undefined
  },
}
const isNetwork = (entry: string): boolean => {
  const [address = '', bits, ...rest] = entry.split('/')
  const widest = { 0: 0, 4: 32, 6: 128 }[isIP(address)]!
  return (
    rest.length === 0 && widest > 0 && (bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= widest))
  )
}
export const proxies: Parser<string[]> = {
  allowed: 'IP addresses or CIDR ranges separated by commas',
  parse: (value) => {
    const entries = list.parse(value)!
    return entries.every(isNetwork) ? entries : undefined
  },
}
export const webAddress: Parser<string> = {
  allowed: 'an http or https address',
  parse: (value) =>
    URL.canParse(value) && /^https?:$/.test(new URL(value).protocol) ? value.replace(/\/+$/, '') : undefined,
}
/** The start of every link to the service. A query would end up in the middle of a link, and a password in mails. */
export const serviceAddress: Parser<string> = {
  allowed: 'an http or https address without user, query and fragment',
  parse: (value) => {
    const address = webAddress.parse(value)
    if (address === undefined) return undefined
    const { username, password } = new URL(address)
    return username === '' && password === '' && !/[?#]/.test(address) ? address : undefined
  },
}
/** Checks the spelling that browsers use. Any other spelling would match nothing. */
const isOrigin = (entry: string): boolean =>
  URL.canParse(entry) && /^https?:$/.test(new URL(entry).protocol) && new URL(entry).origin === entry
export const origins: Parser<string[]> = {
  allowed: 'origins separated by commas, such as https://app.example.com, or *',
  parse: (value) => {
    const entries = list.parse(value)!
    return entries.every(isOrigin) || (entries.length === 1 && entries[0] === '*') ? entries : undefined
  },
}
export const addressWith = (...protocols: string[]): Parser<string> => ({
  allowed: `an address that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
  parse: (value) => (URL.canParse(value) && protocols.includes(new URL(value).protocol) ? value : undefined),
})
export const databaseAddress: Parser<string> = {
  allowed: 'postgres://user:password@host[:port][,host[:port]…]/name[?sslmode=…]',
  parse: canonicalAddress,
}
export const key32: Parser<Buffer> = {
  allowed: '32 bytes in base64 (openssl rand -base64 32)',
  parse: (value) => {
    const bytes = Buffer.from(value, 'base64')
    // Node skips characters that are not base64, so a phrase of 43 letters would be accepted as a key.
    return bytes.length === 32 && bytes.toString('base64') === value ? bytes : undefined
  },
}
export const oidcProviders: Parser<OidcProvider[]> = {
  allowed: 'JSON: [{"id": "…", "title": "…", "issuer": "https://…", "client_id": "…", "client_secret": "…"}]',
  parse: (value) => {
    try {
      const parsed: unknown = JSON.parse(value)
      if (!Array.isArray(parsed) || !parsed.every(isOidcProvider)) return undefined
      return new Set(parsed.map(({ id }) => id)).size === parsed.length ? parsed : undefined
    } catch {
      return undefined
    }
  },
}
const isOidcProvider = (value: unknown): value is OidcProvider =>
  typeof value === 'object' &&
  value !== null &&
  ['id', 'title', 'issuer', 'client_id', 'client_secret'].every(
    (name) => typeof (value as Record<string, unknown>)[name] === 'string',
  ) &&
  /^[a-z0-9-]+$/.test((value as OidcProvider).id) &&
  webAddress.parse((value as OidcProvider).issuer) !== undefined

export type OidcProvider = { id: string; title: string; issuer: string; client_id: string; client_secret: string }
