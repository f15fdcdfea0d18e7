import { DAY } from '../clock.ts'

// The announced end of an operation, in headers (RFC 9745, RFC 8594) and in words. docs/api-policy.md states the
// promises.

export type Deprecated = {
  /** The time since which the operation should not be used. */
  since: Date
  /** The time when the operation stops working. */
  sunset?: Date
  /** The operation to use instead. */
  instead: string
}

type Declaring = { operation: string; deprecated?: Deprecated }

export const deprecationHeaders = ({ deprecated }: Pick<Declaring, 'deprecated'>): Record<string, string> =>
  deprecated === undefined
    ? {}
    : {
        deprecation: `@${Math.floor(deprecated.since.getTime() / 1000)}`,
        ...(deprecated.sunset && { sunset: deprecated.sunset.toUTCString() }),
      }

const dayOf = (at: Date): string => at.toISOString().slice(0, 10)

export const describeDeprecation = ({ since, sunset, instead }: Deprecated): string =>
  `Deprecated since ${dayOf(since)}: use \`${instead}\` instead.${sunset ? ` It stops working on ${dayOf(sunset)}.` : ''}`

const MIN_PERIOD = 180 * DAY

/** Checks a promise of the API policy, so that no release breaks it by mistake. */
export function checkDeprecations(routes: readonly Declaring[]): void {
  const operations = new Set(routes.map(({ operation }) => operation))
  for (const { operation, deprecated } of routes) {
    if (!deprecated) continue
    const { since, sunset, instead } = deprecated
    if (!operations.has(instead)) throw new Error(`${operation} names the successor ${instead}, which does not exist`)
    if (sunset && sunset.getTime() - since.getTime() < MIN_PERIOD)
      throw new Error(`${operation} is deprecated for less than 180 days`)
  }
}
