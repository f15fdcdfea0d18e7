// The Web APIs of `code`. This file is not imported: it is evaluated inside QuickJS when the code first uses one of the
// names that `install` returns. Functions of the host do everything that involves bytes or URLs.

/** Texts are passed between guest and host as JSON: a C string would end at NUL, and lone surrogates would be lost. */
type Host = {
  digest(hash: string, data: ArrayBuffer): ArrayBuffer
  hmac(hash: string, key: ArrayBuffer, data: ArrayBuffer): ArrayBuffer
  encode(text: string): ArrayBuffer
  decode(options: string, data: ArrayBuffer): string
  atob(text: string): string
  btoa(text: string): string
  url(request: string): string
  pairs(text: string): string
  form(pairs: string): string
}

type Parts = Record<(typeof PARTS)[number], string>
type Pair = [string, string]

const PARTS = [
  'href',
  'origin',
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
] as const

const { parse, stringify } = JSON

const problem = (name: string, message: string): Error => Object.assign(new Error(message), { name })

const bytesOf = (data: unknown): ArrayBuffer => {
  if (data instanceof ArrayBuffer) return data
  if (ArrayBuffer.isView(data))
    return data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength) as ArrayBuffer
  throw new TypeError('an ArrayBuffer or a typed array is expected')
}

function textClasses(host: Host) {
  class TextEncoder {
    get encoding(): string {
      return 'utf-8'
    }
    encode(text: unknown = ''): Uint8Array {
      return new Uint8Array(host.encode(stringify(String(text))))
    }
    encodeInto(text: unknown, target: Uint8Array): { read: number; written: number } {
      let read = 0
      let written = 0
      for (const character of String(text)) {
        const bytes = this.encode(character)
        if (written + bytes.length > target.length) break
        target.set(bytes, written)
        written += bytes.length
        read += character.length
      }
      return { read, written }
    }
  }

  class TextDecoder {
    readonly encoding: string
    readonly fatal: boolean
    readonly ignoreBOM: boolean
    constructor(label: unknown = 'utf-8', options: { fatal?: unknown; ignoreBOM?: unknown } = {}) {
      this.fatal = Boolean(options.fatal)
      this.ignoreBOM = Boolean(options.ignoreBOM)
      this.encoding = parse(host.decode(stringify({ label: String(label) }), new ArrayBuffer(0))).encoding
    }
    decode(data: unknown = new ArrayBuffer(0), options: { stream?: unknown } = {}): string {
      if (options.stream) throw new TypeError('TextDecoder decodes whole texts; "stream" is not supported')
      const { encoding: label, fatal, ignoreBOM } = this
      return parse(host.decode(stringify({ label, fatal, ignoreBOM }), bytesOf(data))).text
    }
  }

  return { TextEncoder, TextDecoder }
}

const hashOf = (algorithm: unknown): string => {
  const name = typeof algorithm === 'string' ? algorithm : (algorithm as { name?: unknown } | null)?.name
  const hash = String(name).toUpperCase()
  if (['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512'].includes(hash)) return hash
  throw problem('NotSupportedError', `the hash must be SHA-1, SHA-256, SHA-384 or SHA-512, not "${name}"`)
}
const requireHmac = (algorithm: unknown): void => {
  const name = typeof algorithm === 'string' ? algorithm : (algorithm as { name?: unknown } | null)?.name
  if (String(name).toUpperCase() !== 'HMAC')
    throw problem('NotSupportedError', `the algorithm must be HMAC, not "${name}"`)
}

function subtleOf(host: Host) {
  class CryptoKey {
    readonly #bytes: ArrayBuffer
    readonly type = 'secret'
    readonly extractable: boolean
    readonly algorithm: { name: 'HMAC'; hash: { name: string }; length: number }
    readonly usages: readonly string[]
    constructor(bytes: ArrayBuffer, hash: string, extractable: boolean, usages: string[]) {
      this.#bytes = bytes
      this.extractable = extractable
      this.algorithm = { name: 'HMAC', hash: { name: hash }, length: bytes.byteLength * 8 }
      this.usages = usages
    }
    static sign(key: unknown, usage: string, data: unknown): ArrayBuffer {
      if (!(key instanceof CryptoKey)) throw new TypeError('the key must come from crypto.subtle.importKey')
      if (!key.usages.includes(usage))
        throw problem('InvalidAccessError', `the key was not imported with the usage "${usage}"`)
      return host.hmac(key.algorithm.hash.name, key.#bytes, bytesOf(data))
    }
  }

  const subtle = {
    async digest(algorithm: unknown, data: unknown): Promise<ArrayBuffer> {
      return host.digest(hashOf(algorithm), bytesOf(data))
    },
    async importKey(format: unknown, data: unknown, algorithm: unknown, extractable: unknown, usages: unknown) {
      if (format !== 'raw') throw problem('NotSupportedError', 'the format of a key must be "raw"')
      requireHmac(algorithm)
      const bytes = bytesOf(data).slice(0)
      if (bytes.byteLength === 0) throw problem('DataError', 'the key is empty')
      const allowed = Array.isArray(usages) ? usages.map(String) : []
      if (allowed.length === 0 || !allowed.every((usage) => usage === 'sign' || usage === 'verify'))
        throw new SyntaxError('the usages of a key must be "sign", "verify" or both')
      return new CryptoKey(bytes, hashOf((algorithm as { hash?: unknown }).hash), Boolean(extractable), allowed)
    },
    async sign(algorithm: unknown, key: unknown, data: unknown): Promise<ArrayBuffer> {
      requireHmac(algorithm)
      return CryptoKey.sign(key, 'sign', data)
    },
    async verify(algorithm: unknown, key: unknown, signature: unknown, data: unknown): Promise<boolean> {
      requireHmac(algorithm)
      const expected = new Uint8Array(CryptoKey.sign(key, 'verify', data))
      const given = new Uint8Array(bytesOf(signature))
      let difference = expected.length ^ given.length
      for (const [at, byte] of expected.entries()) difference |= byte ^ (given[at] ?? 0)
      return difference === 0
    },
  }

  return subtle
}

function parametersClass(host: Host) {
  class URLSearchParams {
    #pairs: Pair[] = []
    #changed: ((text: string) => void) | undefined
    constructor(init: unknown = '') {
      this.#pairs = URLSearchParams.#read(init)
    }
    static #read(init: unknown): Pair[] {
      if (init === null || typeof init !== 'object') return parse(host.pairs(stringify(String(init))))
      const items = Symbol.iterator in init ? [...(init as Iterable<unknown>)] : Object.entries(init)
      return items.map((item) => {
        const pair = typeof item === 'object' && item !== null ? [...(item as Iterable<unknown>)] : []
        if (pair.length !== 2) throw new TypeError('each parameter must be a name and a value')
        return [String(pair[0]), String(pair[1])]
      })
    }
    /** Connects the parameters with their URL: a change of one updates the other. */
    static follow(params: URLSearchParams, text: string, changed: (text: string) => void): void {
      params.#pairs = URLSearchParams.#read(text)
      params.#changed = changed
    }
    #change(pairs: Pair[]): void {
      this.#pairs = pairs
      this.#changed?.(this.toString())
    }
    get size(): number {
      return this.#pairs.length
    }
    append(name: unknown, value: unknown): void {
      this.#change([...this.#pairs, [String(name), String(value)]])
    }
    delete(name: unknown, value?: unknown): void {
      this.#change(
        this.#pairs.filter(([key, its]) => key !== String(name) || (value !== undefined && its !== String(value))),
      )
    }
    get(name: unknown): string | null {
      return this.#pairs.find(([key]) => key === String(name))?.[1] ?? null
    }
    getAll(name: unknown): string[] {
      return this.#pairs.filter(([key]) => key === String(name)).map(([, value]) => value)
    }
    has(name: unknown, value?: unknown): boolean {
      return this.#pairs.some(([key, its]) => key === String(name) && (value === undefined || its === String(value)))
    }
    set(name: unknown, value: unknown): void {
      const at = this.#pairs.findIndex(([key]) => key === String(name))
      const pair: Pair = [String(name), String(value)]
      const rest = this.#pairs.filter(([key], index) => key !== String(name) || index === at)
      this.#change(at === -1 ? [...rest, pair] : rest.map((old, index) => (index === at ? pair : old)))
    }
    sort(): void {
      this.#change([...this.#pairs].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
    }
    forEach(each: (value: string, name: string, params: URLSearchParams) => void): void {
      for (const [name, value] of this) each(value, name, this)
    }
    *entries(): Generator<Pair> {
      for (const [name, value] of this.#pairs) yield [name, value]
    }
    *keys(): Generator<string> {
      for (const [name] of this.#pairs) yield name
    }
    *values(): Generator<string> {
      for (const [, value] of this.#pairs) yield value
    }
    [Symbol.iterator](): Generator<Pair> {
      return this.entries()
    }
    toString(): string {
      return parse(host.form(stringify(this.#pairs)))
    }
  }

  const { follow } = URLSearchParams
  Reflect.deleteProperty(URLSearchParams, 'follow')

  return { URLSearchParams, follow }
}

function addressClass(host: Host, { URLSearchParams, follow }: ReturnType<typeof parametersClass>) {
  type Parameters = InstanceType<typeof URLSearchParams>

  class URL {
    #parts: Parts
    #params: Parameters | undefined
    constructor(address: unknown, base?: unknown) {
      const parts = URL.#resolve(address, base)
      if (parts === null) throw new TypeError(`Invalid URL: ${String(address).slice(0, 200)}`)
      this.#parts = parts
    }
    static #resolve(address: unknown, base?: unknown): Parts | null {
      return parse(host.url(stringify([String(address), base === undefined ? null : String(base)])))
    }
    static canParse(address: unknown, base?: unknown): boolean {
      return URL.#resolve(address, base) !== null
    }
    static parse(address: unknown, base?: unknown): URL | null {
      return URL.canParse(address, base) ? new URL(address, base) : null
    }
    static read(url: URL, part: keyof Parts): string {
      return url.#parts[part]
    }
    static write(url: URL, part: keyof Parts, value: unknown): void {
      const parts: Parts | null = parse(host.url(stringify([url.#parts.href, null, part, String(value)])))
      if (parts === null) throw new TypeError(`Invalid URL: ${String(value).slice(0, 200)}`)
      url.#parts = parts
      if (url.#params) url.#follow(url.#params)
    }
    #follow(params: Parameters): void {
      follow(params, this.#parts.search, (text) => {
        const parts: Parts | null = parse(host.url(stringify([this.#parts.href, null, 'search', text])))
        if (parts) this.#parts = parts
      })
    }
    get searchParams(): Parameters {
      if (!this.#params) {
        this.#params = new URLSearchParams()
        this.#follow(this.#params)
      }
      return this.#params
    }
    toString(): string {
      return this.#parts.href
    }
    toJSON(): string {
      return this.#parts.href
    }
  }
  const { read, write } = URL
  for (const part of PARTS)
    Object.defineProperty(URL.prototype, part, {
      configurable: true,
      enumerable: true,
      get(this: URL) {
        return read(this, part)
      },
      ...(part !== 'origin' && {
        set(this: URL, value: unknown) {
          write(this, part, value)
        },
      }),
    })
  Reflect.deleteProperty(URL, 'read')
  Reflect.deleteProperty(URL, 'write')

  return URL
}

export function install(host: Host): Record<string, unknown> {
  const parameters = parametersClass(host)
  return {
    ...textClasses(host),
    URL: addressClass(host, parameters),
    URLSearchParams: parameters.URLSearchParams,
    crypto: { subtle: subtleOf(host) },
    atob: (text: unknown): string => parse(host.atob(stringify(String(text)))),
    btoa: (text: unknown): string => parse(host.btoa(stringify(String(text)))),
  }
}
