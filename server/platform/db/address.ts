// Addresses of databases. An address may name several hosts (`postgres://user@first,second:5433/name`), as in libpq. A
// standard URL cannot contain several hosts. Inside the program, the URL therefore contains the first host, and a
// parameter contains all of them.

export type Host = { host: string; port: number }

const HOSTS = 'heddle_hosts'
const PORT = 5432
/** With these modes the driver checks the certificate as with `verify-full`, after a warning of six lines. */
const AS_VERIFY_FULL = new Set(['prefer', 'require', 'verify-ca'])
const MODES = new Set([...AS_VERIFY_FULL, 'disable', 'allow', 'no-verify', 'verify-full'])
const ATTRIBUTES = new Set(['read-write', 'primary'])

const authority = /^(postgres(?:ql)?:\/\/)((?:[^@/?#]*@)?)([^/?#@]*)(.*)$/s

/** Returns the form that the program uses, or undefined if the text is not the address of a PostgreSQL database. */
export function canonicalAddress(text: string): string | undefined {
  const [, scheme, user, places = '', rest] = authority.exec(text) ?? []
  if (scheme === undefined) return undefined
  const [first = '', ...others] = places.split(',')
  const address = `${scheme}${user}${first}${rest}`
  if (!URL.canParse(address)) return undefined
  const url = new URL(address)
  const attributes = url.searchParams.get('target_session_attrs')
  if (attributes !== null && !ATTRIBUTES.has(attributes)) return undefined
  url.searchParams.delete('target_session_attrs')
  const mode = url.searchParams.get('sslmode')
  if (mode !== null && !MODES.has(mode)) return undefined
  if (mode !== null && AS_VERIFY_FULL.has(mode) && url.searchParams.get('uselibpqcompat') !== 'true')
    url.searchParams.set('sslmode', 'verify-full')
  if (others.length === 0) return url.href
  const hosts = [first, ...others].map(hostOf)
  if (hosts.some((host) => host === undefined)) return undefined
  url.searchParams.set(HOSTS, hosts.map((host) => `${host!.host}:${host!.port}`).join(','))
  return url.href
}

function hostOf(text: string): Host | undefined {
  const [, name, port = String(PORT)] = /^(\[[^\]]+\]|[^:,\s]+)(?::(\d{1,5}))?$/.exec(text) ?? []
  if (name === undefined || Number(port) > 65_535 || Number(port) === 0) return undefined
  return { host: name, port: Number(port) }
}

/** Returns the hosts that share the data, or an empty list if there is only one host. */
export function hostsOf(address: string): Host[] {
  const listed = URL.canParse(address) ? new URL(address).searchParams.get(HOSTS) : null
  if (listed === null) return []
  return listed.split(',').map((entry) => {
    const { host, port } = hostOf(entry)!
    return { host: host.replace(/^\[(.+)\]$/, '$1'), port }
  })
}

/** Returns the address without the parameter that only this program understands. */
export function withoutHosts(address: string): string {
  if (hostsOf(address).length === 0) return address
  const url = new URL(address)
  url.searchParams.delete(HOSTS)
  return url.href
}
