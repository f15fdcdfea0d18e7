import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Parts of 2000::/3 that are reserved for documentation but missing in the library's list. */
const NOT_GLOBAL_V6 = [ipaddr.parseCIDR('3fff::/20')] as const
const GLOBAL_V6 = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number]

/**
 * Checks whether this is an address of the public internet. Uses a list of allowed ranges, not of forbidden ones: IPv4
 * outside every special range, and IPv6 inside 2000::/3 and outside every special range in it. Mapped, 6to4, Teredo and
 * NAT64 addresses contain an IPv4 address and are always refused.
 */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0) return false
  const address = ipaddr.parse(text)
  if (address.range() !== 'unicast') return false
  if (address.kind() === 'ipv4') return true
  const v6 = address as ipaddr.IPv6
  if (v6.zoneId) return false
  return v6.match(GLOBAL_V6) && !NOT_GLOBAL_V6.some((range) => v6.match(range as [ipaddr.IPv6, number]))
}
