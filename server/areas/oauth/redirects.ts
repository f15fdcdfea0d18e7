// Addresses to which a browser may be sent with a code. Programs register themselves, so only the address identifies a
// program.

const MAX_LENGTH = 2000
const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])
/** Schemes that a browser runs or displays itself. */
const HARMFUL =
  /^(?:javascript|data|vbscript|file|blob|about|filesystem|view-source|ws|wss|ftp|mailto|tel|intent|chrome|http)$/

/**
 * Allows https, http on a loopback address, and the custom scheme of a program on the device. Refuses a user or a
 * fragment.
 */
export function isAllowedRedirect(text: string): boolean {
  if (text.length > MAX_LENGTH || /[\s\p{Cc}#\\]/u.test(text) || !URL.canParse(text)) return false
  const { protocol, hostname, username, password } = new URL(text)
  if (username !== '' || password !== '') return false
  if (protocol === 'https:') return hostname !== ''
  if (protocol === 'http:') return LOOPBACK.has(hostname)
  return /^[a-z][a-z0-9+.-]*:$/.test(protocol) && !HARMFUL.test(protocol.slice(0, -1))
}

/**
 * Compares the addresses as text. On a loopback address the port may differ, since a program uses any free port (RFC
 * 8252, 7.3).
 */
export function isRegistered(registered: readonly string[], wanted: string): boolean {
  if (!isAllowedRedirect(wanted)) return false
  return registered.some((one) => one === wanted || withoutPort(one) === withoutPort(wanted))
}

function withoutPort(text: string): string {
  const url = new URL(text)
  if (url.protocol !== 'http:' || !LOOPBACK.has(url.hostname)) return text
  url.port = ''
  return url.href
}

/** Returns the host, or the scheme of a program on the device, for display to the person. */
export function shownRedirect(text: string): string {
  const { protocol, host } = new URL(text)
  return protocol === 'https:' || protocol === 'http:' ? host : protocol.slice(0, -1)
}

export function redirectWith(redirectUri: string, parameters: Record<string, string | undefined>): string {
  const url = new URL(redirectUri)
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.set(name, value)
  return url.href
}
