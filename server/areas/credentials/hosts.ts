import { isIP } from 'node:net'

// The hosts to which a secret may be sent: exact names, or `*.example.com` for every name below it. A port is optional;
// without a port every port of the host is allowed.

export const MAX_HOSTS = 20

/**
 * Returns the host as a URL spells it, so that the compared host is the host that is connected to. Undefined if the
 * text is not a host.
 */
export function canonicalHost(text: string): string | undefined {
  const given = text.trim().toLowerCase()
  const wildcard = given.startsWith('*.')
  const rest = wildcard ? given.slice(2) : given
  if (rest === '' || /[/?#@\\*\s]/.test(rest) || !URL.canParse(`https://${rest}`)) return undefined
  const { hostname, host } = new URL(`https://${rest}`)
  const name = hostname.replace(/\.$/, '')
  if (name === '' || name !== hostname) return undefined
  // The default port of https is kept only if it was written.
  const port = /:(\d+)$/.exec(rest)?.[1]
  const spelt = port === undefined ? name : `${name}:${Number(port)}`
  if (port !== undefined && host !== spelt && host !== name) return undefined
  if (!wildcard) return spelt
  // `*.com` would match half of the internet.
  if (isIP(name.replace(/^\[|\]$/g, '')) !== 0 || !name.includes('.')) return undefined
  return `*.${spelt}`
}

export const canonicalHosts = (hosts: readonly string[]): string[] => [...new Set(hosts)].sort()

export function hostAllowed(hosts: readonly string[], url: URL): boolean {
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  return hosts.some((allowed) => {
    const [, name = '', wanted] = /^(.*?)(?::(\d+))?$/.exec(allowed.startsWith('[') ? '' : allowed) ?? []
    if (allowed.startsWith('[')) return allowed === url.hostname || allowed === `${url.hostname}:${port}`
    if (wanted !== undefined && wanted !== port) return false
    return name.startsWith('*.') ? url.hostname.endsWith(name.slice(1)) : url.hostname === name
  })
}

/** Returns all host entries of a credential that match this address. */
export function namesFor(url: URL): string[] {
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  const { hostname } = url
  const parts = hostname.split('.')
  const wildcards = hostname.startsWith('[') ? [] : parts.slice(1).map((_, at) => `*.${parts.slice(at + 1).join('.')}`)
  return [hostname, ...wildcards].flatMap((name) => [name, `${name}:${port}`])
}
