// Chooses the coding of a response that a client accepts (RFC 9110, 12.5.3).

export type Encoding = 'br' | 'gzip'

/** The service's own order, if the client has no preference. */
const ours: readonly Encoding[] = ['br', 'gzip']

/** Longer headers are not treated as a list of codings. */
const MAX_HEADER = 500

/** Returns the coding with the highest weight, or undefined if the response must not be encoded. */
export function chooseEncoding(accepted: string | undefined, among: readonly Encoding[] = ours): Encoding | undefined {
  if (accepted === undefined || accepted.length > MAX_HEADER) return undefined
  const weights = new Map<string, number>()
  for (const part of accepted.split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase())
    weights.set(name === 'x-gzip' ? 'gzip' : name, weightOf(parameters))
  }
  const weight = (name: string): number => weights.get(name) ?? weights.get('*') ?? 0
  const plain = weights.get('identity') ?? 0
  let best: Encoding | undefined
  for (const name of among) if (weight(name) > (best === undefined ? 0 : weight(best))) best = name
  return best !== undefined && weight(best) >= plain ? best : undefined
}

/** A weight that cannot be parsed counts as a refusal of the coding. */
function weightOf(parameters: string[]): number {
  const given = parameters.find((parameter) => parameter.startsWith('q='))
  if (given === undefined) return 1
  return /^q=(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(given) ? Number(given.slice(2)) : 0
}

/** A strong ETag identifies bytes, so each coding has its own ETag. */
export const etagFor = (etag: string, encoding: Encoding): string =>
  etag.startsWith('"') ? `${etag.slice(0, -1)}-${encoding}"` : etag

/** Checks whether a client's tag is this ETag, in any coding. */
export const isSameEtag = (tag: string, etag: string): boolean =>
  tag === etag || ours.some((encoding) => tag === etagFor(etag, encoding))

export const addVary = (present: unknown, name: string): string => {
  const names = typeof present === 'string' && present !== '' ? present.split(/, */) : []
  return names.some((one) => one === '*' || one.toLowerCase() === name.toLowerCase())
    ? names.join(', ')
    : [...names, name].join(', ')
}
