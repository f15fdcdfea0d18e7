// Addresses of databases. Several hosts may stand in one (`postgres://user@first,second:5433/name`), as libpq writes it. A
// standard URL cannot hold them, so inside the program the first stands in its place and all of them in a parameter.

export type Host = { host: string; port: number }

const HOSTS = 'heddle_hosts'
const PORT = 5432
const ATTRIBUTES = new Set(['read-write', 'primary'])

const authority = /^(postgres(?:ql)?:\/\/)((?:[^@/?#]*@)?)([^/?#@]*)(.*)$/s

/** The form that the program uses; undefined where it is no address of a PostgreSQL. */
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

/** The hosts that share the data; empty where there is only one. */
export function hostsOf(address: string): Host[] {
  const listed = URL.canParse(address) ? new URL(address).searchParams.get(HOSTS) : null
  if (listed === null) return []
  return listed.split(',').map((entry) => {
    const { host, port } = hostOf(entry)!
    return { host: host.replace(/^\[(.+)\]$/, '$1'), port }
  })
}

/** The same address, without what only this program understands. */
export function withoutHosts(address: string): string {
  if (hostsOf(address).length === 0) return address
  const url = new URL(address)
  url.searchParams.delete(HOSTS)
  return url.href
}
