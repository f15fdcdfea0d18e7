// The wall between tenants and our network. An address is checked where it is dialled: inside the socket's own look-up,
// so that a name cannot answer differently in between, and for literals, for which no look-up happens.

import { lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { isPublicAddress } from './address.ts'
import { OutgoingFailure } from './failure.ts'

type Resolved = { address: string; family: number }
export type Resolve = (host: string, callback: (error: Error | null, addresses: Resolved[]) => void) => void

export type Guard = {
  /** True when the operator's settings let tenants reach this host and port whatever its address. */
  isExempt(host: string, port: number): boolean
  /** Refuses an address literal that is not public; names are left to the look-up. */
  checkLiteral(host: string, port: number): void
  /** For `net.connect` and everything built on it. */
  lookup: LookupFunction
  lookupFor(host: string, port: number): LookupFunction
  /** The addresses of a target, all of them allowed; for clients that can only be given an address. */
  resolveTarget(host: string, port: number): Promise<Resolved[]>
}

const bare = (host: string): string =>
  host
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase()

const asBare = (target: string): string => {
  const colon = target.lastIndexOf(':')
  return `${bare(target.slice(0, colon))}:${target.slice(colon + 1)}`
}

const refused = (host: string): OutgoingFailure =>
  new OutgoingFailure(
    'target_refused',
    `"${host.slice(0, 100)}" is not an address of the public internet, and HEDDLE_ALLOW_TARGETS does not allow it`,
  )

const resolveBySystem: Resolve = (host, callback) => systemLookup(host, { all: true, verbatim: true }, callback)

export function makeGuard(allowTargets: readonly string[], resolve: Resolve = resolveBySystem): Guard {
  const isExempt = (host: string, port: number): boolean => {
    const asked = `${bare(host)}:${port}`
    return allowTargets.some((target) => asBare(target) === asked)
  }

  const makeLookup =
    (isAllowed: (address: string) => boolean): LookupFunction =>
    (host, options, callback) => {
      resolve(host, (error, addresses) => {
        if (error) {
          callback(error, '', 0)
          return
        }
        // One private answer among several refuses the name: which one is dialled is not ours to choose.
        if (addresses.length === 0 || !addresses.every(({ address }) => isAllowed(address))) {
          callback(refused(host), '', 0)
          return
        }
        const wanted = options.family === 4 || options.family === 6 ? options.family : undefined
        const usable = wanted ? addresses.filter(({ family }) => family === wanted) : addresses
        const [first] = usable
        if (!first) callback(new OutgoingFailure('target_unresolved', 'the target has no usable address'), '', 0)
        else if (options.all) callback(null, usable)
        else callback(null, first.address, first.family)
      })
    }
  const guarded = makeLookup(isPublicAddress)
  const open = makeLookup(() => true)
  const lookupFor = (host: string, port: number): LookupFunction => (isExempt(host, port) ? open : guarded)

  const checkLiteral = (host: string, port: number): void => {
    const literal = host.replace(/^\[|\]$/g, '')
    if (isIP(literal) !== 0 && !isPublicAddress(literal) && !isExempt(host, port)) throw refused(host)
  }

  return {
    isExempt,
    checkLiteral,
    lookup: guarded,
    lookupFor,
    async resolveTarget(host, port) {
      checkLiteral(host, port)
      const literal = host.replace(/^\[|\]$/g, '')
      const family = isIP(literal)
      if (family !== 0) return [{ address: literal, family }]
      return new Promise((done, fail) => {
        lookupFor(host, port)(literal, { all: true }, (error, addresses) => {
          if (error) fail(error)
          else done(addresses as unknown as Resolved[])
        })
      })
    },
  }
}
