// Keeps tenants out of our own network. An address is checked when it is connected: inside the socket's own lookup, so
// that a name cannot resolve differently between check and connection, and for address literals, for which no lookup
// happens.

import { isIP, type LookupFunction } from 'node:net'
import { isPublicAddress } from './address.ts'
import { OutgoingFailure } from './failure.ts'
import { makeResolve, type Resolve, resolveBySystem } from './resolve.ts'

type Resolved = { address: string; family: number }

export type Guard = {
  /** Checks whether the operator's settings let tenants reach this host and port, regardless of the address. */
  isExempt(host: string, port: number): boolean
  /** Refuses an address literal that is not public. Names are checked by the lookup. */
  checkLiteral(host: string, port: number): void
  /** The lookup function for `net.connect` and everything built on it. */
  lookup: LookupFunction
  lookupFor(host: string, port: number): LookupFunction
  /** Returns the addresses of a target if all of them are allowed. For clients that accept only an address. */
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

export function makeGuard(allowTargets: readonly string[], resolve?: Resolve): Guard {
  const isExempt = (host: string, port: number): boolean => {
    const asked = `${bare(host)}:${port}`
    return allowTargets.some((target) => asBare(target) === asked)
  }

  const makeLookup =
    (resolveName: Resolve, isAllowed: (address: string) => boolean): LookupFunction =>
    (host, options, callback) => {
      resolveName(host, (error, addresses) => {
        if (error) {
          callback(error, '', 0)
          return
        }
        // One private address among several refuses the name, because we do not choose which one is connected.
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
  const guarded = makeLookup(resolve ?? makeResolve(), isPublicAddress)
  // The operator chose these names.
  const open = makeLookup(resolve ?? resolveBySystem, () => true)
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
