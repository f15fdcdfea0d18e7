// Literal keys in a template. They are found by their position and their shape, and never reach the definition.

const NAME =
  /^(?:x-)?(?:.*[-_.])?(?:authorization|auth|api[-_]?key|apikey|api[-_]?token|access[-_]?token|auth[-_]?token|token|secret|client[-_]?secret|password|passwd|private[-_]?key|access[-_]?key|subscription[-_]?key|key|bearer|appid|app[-_]?secret)$/i
const CAMEL =
  /(?:apiKey|accessToken|authToken|apiToken|clientSecret|secretKey|privateKey|accessKey|appSecret|authKey)$/i

/** Checks whether a header, parameter or field with this name contains a secret. */
export const isSecretName = (name: string): boolean => name.length <= 80 && (NAME.test(name) || CAMEL.test(name))

const SHAPES = [
  /\b(?:sk|pk|rk)[-_](?:live|test|proj|ant|or|lf)?[-_]?[A-Za-z0-9_-]{16,}/,
  /\bxox[abeprs]-[A-Za-z0-9-]{10,}/,
  /\bxapp-\d-[A-Z0-9]+-\d+-[a-z0-9]{10,}/,
  /\bgh[pousr]_[A-Za-z0-9]{20,}/,
  /\bgithub_pat_[A-Za-z0-9_]{20,}/,
  /\bglpat-[A-Za-z0-9_-]{16,}/,
  /\bAIza[A-Za-z0-9_-]{30,}/,
  /\bya29\.[A-Za-z0-9_-]{20,}/,
  /\bAKIA[A-Z0-9]{16}\b/,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/,
  /\bpat[A-Za-z0-9]{14}\.[a-f0-9]{32,}/,
  /\b(?:secret|ntn)_[A-Za-z0-9]{32,}/,
  /\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/,
  /\bAC[a-f0-9]{32}\b/,
  /\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{24,}/,
  /\b(?:apify_api|pplx|gsk|hf|r8|fc|tvly|nvapi|xai|bot|key|EAA|re|lin_api|figd|dop_v1|sbp|napi|whsec)[-_][A-Za-z0-9_-]{20,}/,
  /\bEAA[A-Za-z0-9]{40,}/,
  /\b\d{8,10}:AA[A-Za-z0-9_-]{30,}/,
  /\bhooks\.slack\.com\/services\/T[A-Z0-9]+\/B[A-Z0-9]+\/[A-Za-z0-9]+/,
  /\bdiscord(?:app)?\.com\/api\/webhooks\/\d+\/[A-Za-z0-9_-]{20,}/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/,
]
const ANY_SHAPE = new RegExp(SHAPES.map(({ source }) => `(?:${source})`).join('|'), 'g')
/** `Bearer …`, `Basic …` with a literal value. */
const SCHEME = /\b(Bearer|Basic|Token)\s+(?!\{\{|\$\{|\$\(|['"`+<\s])([A-Za-z0-9._~+/=:-]{16,})/g
/** `apiKey = "…"`, `'X-API-Key': '…'`, `"password": "…"` inside code and JSON texts. */
const ASSIGNED = /(['"]?)([A-Za-z][\w-]{1,60})\1(\s*[:=]\s*)(['"`])([^'"`\s${}]{8,})\4/g
const IN_ADDRESS = /([?&])([A-Za-z][\w.-]{1,60})=([^&#\s{}'"]{6,})/g
const USER_INFO = /(https?:\/\/)[^/@\s{}'"]+:[^/@\s{}'"]+@/g

const REMOVED = 'REMOVED'

/** Checks for placeholders such as `YOUR_API_KEY` and `your-token`, without a digit. */
const isToBeFilled = (value: string): boolean =>
  /^(?:[A-Z]+_)+[A-Z]+$/.test(value) || /^<?(?:your|my|put|insert|enter|add)[-_](?:[a-z]+[-_]?){1,5}>?$/i.test(value)

/** Returns the text without parts that look like a secret, and whether there were any. */
export function withoutSecrets(text: string): { text: string; found: boolean } {
  if (text.length < 12) return { text, found: false }
  const clean = text
    .replace(ANY_SHAPE, REMOVED)
    .replace(USER_INFO, `$1`)
    .replace(SCHEME, (_all, scheme: string) => `${scheme} ${REMOVED}`)
    .replace(ASSIGNED, (all, quote: string, name: string, between: string, mark: string, value: string) =>
      isSecretName(name) && value !== REMOVED && !/^(https?:|\/)/.test(value) && !isToBeFilled(value)
        ? `${quote}${name}${quote}${between}${mark}${REMOVED}${mark}`
        : all,
    )
    .replace(IN_ADDRESS, (all, sign: string, name: string, value: string) =>
      isSecretName(name) && value !== REMOVED ? `${sign}${name}=${REMOVED}` : all,
    )
  return { text: clean, found: clean !== text }
}

/** Returns an address without parameters that contain secrets. */
export function addressWithoutSecrets(address: string): { text: string; names: string[] } {
  const names: string[] = []
  const text = address
    .replace(IN_ADDRESS, (all, sign: string, name: string) => {
      if (!isSecretName(name)) return all
      names.push(name)
      return sign
    })
    .replace(/([?&])&+/g, '$1')
    .replace(/[?&](?=#|$)/, '')
  return { text, names }
}
