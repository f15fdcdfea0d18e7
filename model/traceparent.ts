// W3C Trace Context: `version-trace-parent-flags`, lower-case hexadecimal.

export type TraceParent = { traceId: string; spanId: string; sampled: boolean }

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const ZERO = /^0+$/
const MAX_LENGTH = 512

/** Parses the header; returns undefined if the header is invalid, as if it were absent. */
export function readTraceparent(header: unknown): TraceParent | undefined {
  if (typeof header !== 'string' || header.length > MAX_LENGTH) return undefined
  const [, version, traceId = '', spanId = '', flags = '', more] = FORM.exec(header.trim()) ?? []
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined
  if (ZERO.test(traceId) || ZERO.test(spanId)) return undefined
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

export const writeTraceparent = ({ traceId, spanId, sampled }: TraceParent): string =>
  `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`
