// The places in a request where third-party code may have a secret inserted. Anywhere else the placeholder is not
// replaced: a piece that writes its placeholder into a message, a title or a file sends a meaningless text.

type Swap = (text: string) => string

const NAMED =
  /^(?:.*[_.-])?(?:(?:api|app|application|access|auth|private|public|secret|service|account|license|licence|subscription|integration|master|admin|site|dev|user|consumer|client)?[_.-]?(?:key|token|secret|id_token|code|sid|hash)|pass(?:word|wd|phrase)?|pwd|auth(?:orization|entication)?|bearer|credentials?|jwt|signature|sig|session(?:_?id)?|user(?:_?name)?|login|email|client_?id)$/i

const words = (name: string): string => name.replace(/([a-z0-9])([A-Z])/g, '$1_$2')

/** Checks whether a field proves who is calling: by its name, or because the credential has a field of that name. */
export const isProofField = (name: string, own: ReadonlySet<string>): boolean =>
  NAMED.test(words(name)) || own.has(name.toLowerCase())

/** The placeholder alone, or after the name of a scheme. */
const ALONE = /^(?:[A-Za-z]{1,12} )?hdlph[0-9a-f]{40}$/

const swapAlone = (text: string, swap: Swap): string => (ALONE.test(text) ? swap(text) : text)

function inValue(value: unknown, name: string | undefined, own: ReadonlySet<string>, swap: Swap): unknown {
  if (typeof value === 'string') return name !== undefined && isProofField(name, own) ? swapAlone(value, swap) : value
  if (Array.isArray(value)) return value.map((inner) => inValue(inner, name, own, swap))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, inValue(inner, key, own, swap)]))
}

/** Returns JSON unchanged if nothing is inserted, so that numbers beyond JavaScript's precision are kept. */
export function insertIntoJson(text: string, own: ReadonlySet<string>, swap: Swap): string {
  try {
    const parsed = JSON.parse(text) as unknown
    const put = inValue(parsed, undefined, own, swap)
    const before = JSON.stringify(parsed)
    const after = JSON.stringify(put)
    return before === after ? text : after
  } catch {
    return text
  }
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

/** Inserts into `a=1&b=2` of a form or an address. */
export const insertIntoPairs = (text: string, own: ReadonlySet<string>, swap: Swap): string =>
  text
    .split('&')
    .map((pair) => {
      const at = pair.indexOf('=')
      if (at === -1 || !isProofField(decoded(pair.slice(0, at)), own)) return pair
      const value = decoded(pair.slice(at + 1))
      return ALONE.test(value) ? `${pair.slice(0, at)}=${encodeURIComponent(swap(value))}` : pair
    })
    .join('&')

/**
 * Inserts into a path segment that is the placeholder, with an optional short word before it, such as Telegram's
 * `bot…`.
 */
export const insertIntoPath = (path: string, swap: Swap): string =>
  path
    .split('/')
    .map((step) => (/^[a-z]{0,8}hdlph[0-9a-f]{40}$/i.test(step) ? swap(step) : step))
    .join('/')

/** Inserts into parts of a form and elements of XML. */
export const insertIntoText = (text: string, own: ReadonlySet<string>, swap: Swap): string =>
  text
    .replace(
      /(content-disposition: form-data; name="([^"\r\n]{1,100})"\r\n(?:[^\r\n]+\r\n)*\r\n)([^\r\n]+)(?=\r\n--)/gi,
      (whole, head: string, name: string, value: string) =>
        isProofField(name, own) ? head + swapAlone(value, swap) : whole,
    )
    .replace(/<([A-Za-z_][\w.:-]{0,100})>(hdlph[0-9a-f]{40})(?=<\/)/g, (whole, name: string, value: string) =>
      isProofField(name.replace(/^.*:/, ''), own) ? `<${name}>${swap(value)}` : whole,
    )
