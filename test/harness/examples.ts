import { writeFileSync } from 'node:fs'

// Records examples for the OpenAPI document from successful calls, if the access matrix runs with
// `HEDDLE_RECORD_EXAMPLES=FILE`. Ids, times, secrets and addresses are the same in every recording.

const MAX_BYTES = 6_000
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const SECRET = /\b(hk|ses|whs|ems|vis|ivt|inv|cb)_[A-Za-z0-9_-]{27,}/g

function makeNormaliser() {
  const ids = new Map<string, string>()
  const counts = new Map<string, number>()
  const idFor = (id: string, prefix: string): string => {
    const known = ids.get(id)
    if (known !== undefined) return known
    const count = counts.get(prefix) ?? 0
    counts.set(prefix, count + 1)
    const made = `${prefix}_01kf3v6h2he3wtpk1fw5c0wz9${ALPHABET[(13 + count) % 32]}`
    ids.set(id, made)
    return made
  }
  return (text: string): string =>
    text
      .replaceAll(/\b([a-z]{2,6})_[0-7][0-9a-hjkmnp-tv-z]{25}\b/g, (id, prefix: string) => idFor(id, prefix))
      .replaceAll(SECRET, (_, prefix: string) => `${prefix}_EXAMPLE`)
      .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '2026-01-31T09:30:00.000Z')
      .replaceAll(
        /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g,
        '019b0f2c-6c1e-7aa3-9f52-3e7b6f0c1d2a',
      )
      .replaceAll(/\b[0-9a-f]{64}\b/g, 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
      .replaceAll(/https?:\/\/127\.0\.0\.1:\d+/g, 'https://heddle.example')
      .replaceAll(/\b[\w.-]*\d[\w.-]*@example\.com/g, 'ada@example.com')
      .replaceAll(
        /\bThe (author|resourceMember|resourceViewer|member|viewer|guest|workspaceOwner|stranger|operator)\b/g,
        'Ada Example',
      )
      .replaceAll(/[A-Za-z0-9_-]{40,}/g, (long) => (/^[0-9a-f]{64}$/.test(long) ? long : 'EXAMPLE'))
}

function normalise(value: unknown, text: (text: string) => string, most: number): unknown {
  if (typeof value === 'string') return text(value)
  if (Array.isArray(value)) return value.slice(0, most).map((one) => normalise(one, text, most))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      // Tools treat every "$ref" as a reference within the document. `$cel` has the same meaning here.
      key === '$ref' && typeof inner === 'string' && !inner.startsWith('#') ? '$cel' : text(key),
      normalise(inner, text, most),
    ]),
  )
}

const small = (value: unknown): unknown => {
  for (const most of [10, 2, 1]) {
    const tried = normalise(value, makeNormaliser(), most)
    if (JSON.stringify(tried).length <= MAX_BYTES) return tried
  }
  return undefined
}

export function makeRecorder(file: string | undefined) {
  const recorded: Record<string, { body?: unknown; answer?: unknown }> = {}
  return {
    keep(operation: string, body: unknown, answer: unknown): void {
      if (file === undefined || recorded[operation]) return
      const kept = small({ ...(body !== undefined && { body }), ...(answer !== undefined && { answer }) })
      if (kept !== undefined) recorded[operation] = kept as { body?: unknown; answer?: unknown }
    },
    write(): void {
      if (file === undefined) return
      const sorted = Object.fromEntries(Object.entries(recorded).sort(([a], [b]) => (a < b ? -1 : 1)))
      writeFileSync(file, `${JSON.stringify(sorted, null, 1)}\n`)
    },
  }
}
