import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Parts of 2000::/3 that are documentation, and yet not in the library's list. */
const NOT_GLOBAL_V6 = [ipaddr.parseCIDR('3fff::/20')] as const
const GLOBAL_V6 = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number]

/**
 * Is this an address of the public internet? A list of what is allowed, not of what is forbidden: IPv4 outside every
 * special range, IPv6 inside 2000::/3 and outside every special range in it (mapped, 6to4, Teredo and NAT64 hide an
 * IPv4 address and are refused whatever it is).
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
