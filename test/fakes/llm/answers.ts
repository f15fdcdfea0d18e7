// The answers of the fake language model, independent of a vendor's protocol.

export type FakeToolCall = { id?: string; name: string; arguments: unknown }

export type FakeAnswer =
  | { kind: 'text'; text: string; finish?: 'stop' | 'length' | 'content_filter'; usage?: FakeUsage | null }
  | { kind: 'tools'; calls: FakeToolCall[]; text?: string; usage?: FakeUsage | null }
  | { kind: 'refusal'; text: string }
  | { kind: 'status'; status: number; body?: unknown; headers?: Record<string, string> }
  /** Text in pieces, if the caller requests a stream. Each piece, and then the end, waits for its `before`. */
  | { kind: 'pieces'; pieces: string[]; before?: (index: number) => Promise<void> }
  /** A stream that breaks after these pieces. With `ends`, the connection ends properly, but the last events are missing. */
  | { kind: 'broken'; pieces: string[]; ends?: true }
  /** A body that is sent unchanged, with status 200. */
  | { kind: 'raw'; body: string }
  /** Half a body, then the connection is closed. */
  | { kind: 'cut' }
  /** Never answers. */
  | { kind: 'hang' }
  | { kind: 'redirect'; location: string }

export type FakeUsage = { input: number; output: number; cost?: number }

export const say = (text: string, usage?: FakeUsage | null): FakeAnswer => ({ kind: 'text', text, usage })
export const json = (value: unknown, usage?: FakeUsage): FakeAnswer => say(JSON.stringify(value), usage)
export const cutOff = (text: string): FakeAnswer => ({ kind: 'text', text, finish: 'length' })
export const filtered = (): FakeAnswer => ({ kind: 'text', text: '', finish: 'content_filter' })
export const refuse = (text: string): FakeAnswer => ({ kind: 'refusal', text })
export const callTools = (calls: FakeToolCall[], usage?: FakeUsage): FakeAnswer => ({ kind: 'tools', calls, usage })
export const status = (code: number, body?: unknown, headers?: Record<string, string>): FakeAnswer => ({
  kind: 'status',
  status: code,
  body,
  headers,
})
export const piecemeal = (pieces: string[], before?: (index: number) => Promise<void>): FakeAnswer => ({
  kind: 'pieces',
  pieces,
  ...(before && { before }),
})
export const breakAfter = (...pieces: string[]): FakeAnswer => ({ kind: 'broken', pieces })
export const endAfter = (...pieces: string[]): FakeAnswer => ({ kind: 'broken', pieces, ends: true })
export const raw = (body: string): FakeAnswer => ({ kind: 'raw', body })
export const cut = (): FakeAnswer => ({ kind: 'cut' })
export const hang = (): FakeAnswer => ({ kind: 'hang' })
export const redirect = (location: string): FakeAnswer => ({ kind: 'redirect', location })

export const DEFAULT_USAGE: FakeUsage = { input: 20, output: 10 }
