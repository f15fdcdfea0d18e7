import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib'
import { ConversionFailure, MAX_OUTPUT_BYTES } from './index.ts'

// Reads and writes archives without a library, so that refusals happen here, before a byte of a member is unpacked.

export type Member = { name: string; bytes: Buffer }

const MAX_MEMBERS = 1_000
const END = 0x06054b50
const ENTRY = 0x02014b50
const LOCAL = 0x04034b50
const SYMLINK = 0o120000
const KIND = 0o170000

const refuse = (message: string): ConversionFailure => new ConversionFailure('archive_refused', message)

type Entry = { name: string; method: number; crc: number; packed: number; size: number; at: number }

/** Returns the members that are files. Refuses paths that leave the archive, links, encryption and zip bombs. */
export function readZip(archive: Buffer, maxBytes = MAX_OUTPUT_BYTES): Member[] {
  const members: Member[] = []
  let left = maxBytes
  const seen = new Set<string>()
  for (const entry of entriesOf(archive)) {
    if (seen.has(entry.name)) throw refuse(`the archive contains "${shown(entry.name)}" twice`)
    seen.add(entry.name)
    if (entry.size > left) throw refuse(`the archive unpacks to more than ${maxBytes} bytes`)
    const bytes = unpack(archive, entry, left, maxBytes)
    left -= bytes.length
    members.push({ name: entry.name, bytes })
  }
  return members
}

const shown = (name: string): string => name.slice(0, 100).toWellFormed()

function entriesOf(archive: Buffer): Entry[] {
  const end = endOf(archive)
  const count = archive.readUInt16LE(end + 10)
  let at = archive.readUInt32LE(end + 16)
  if (count === 0xffff || at === 0xffffffff) throw refuse('ZIP64 archives are not supported')
  if (count > MAX_MEMBERS) throw refuse(`an archive may hold at most ${MAX_MEMBERS} files`)
  const entries: Entry[] = []
  for (let n = 0; n < count; n += 1) {
    if (at + 46 > archive.length || archive.readUInt32LE(at) !== ENTRY) throw refuse('the archive is damaged')
    const flags = archive.readUInt16LE(at + 8)
    const lengths = [28, 30, 32].map((offset) => archive.readUInt16LE(at + offset)) as [number, number, number]
    const name = archive.toString((flags & 0x800) !== 0 ? 'utf8' : 'latin1', at + 46, at + 46 + lengths[0])
    const mode = archive.readUInt32LE(at + 38) >>> 16
    if ((flags & 1) !== 0) throw refuse('the archive is encrypted')
    if ((mode & KIND) === SYMLINK) throw refuse(`"${shown(name)}" is a link; links are refused`)
    checkPath(name)
    const entry = {
      name,
      method: archive.readUInt16LE(at + 10),
      crc: archive.readUInt32LE(at + 16),
      packed: archive.readUInt32LE(at + 20),
      size: archive.readUInt32LE(at + 24),
      at: archive.readUInt32LE(at + 42),
    }
    if (!name.endsWith('/')) entries.push(entry)
    at += 46 + lengths[0] + lengths[1] + lengths[2]
  }
  return entries
}

function endOf(archive: Buffer): number {
  for (let at = archive.length - 22; at >= Math.max(0, archive.length - 22 - 0xffff); at -= 1) {
    if (archive.readUInt32LE(at) === END) return at
  }
  throw refuse('the file is not a ZIP archive')
}

function checkPath(name: string): void {
  const isBad =
    name === '' ||
    name.includes('\0') ||
    name.includes('\\') ||
    name.startsWith('/') ||
    /^[A-Za-z]:/.test(name) ||
    name.split('/').some((part) => part === '..')
  if (isBad) throw refuse(`the path "${shown(name)}" leads out of the archive`)
}

function unpack(archive: Buffer, entry: Entry, left: number, maxBytes: number): Buffer {
  const damaged = (): ConversionFailure => refuse(`"${shown(entry.name)}" in the archive is damaged`)
  const { at } = entry
  if (at + 30 > archive.length || archive.readUInt32LE(at) !== LOCAL) throw damaged()
  const from = at + 30 + archive.readUInt16LE(at + 26) + archive.readUInt16LE(at + 28)
  const packed = archive.subarray(from, from + entry.packed)
  if (packed.length !== entry.packed) throw damaged()
  let bytes: Buffer
  if (entry.method === 0) bytes = packed
  else if (entry.method === 8) {
    try {
      // The declared size is not trusted: unpacking stops at the remaining limit.
      bytes = inflateRawSync(packed, { maxOutputLength: Math.max(1, left) })
    } catch (error) {
      if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE')
        throw refuse(`the archive unpacks to more than ${maxBytes} bytes`)
      throw damaged()
    }
  } else throw refuse(`"${shown(entry.name)}" is compressed with an unsupported method`)
  if (bytes.length !== entry.size || crc32(bytes) !== entry.crc) throw damaged()
  return bytes
}

const STAMP = { time: 0, date: 0x21 }

/** Writes an archive without times, so that the same members always result in the same bytes. */
export function writeZip(members: readonly Member[]): Buffer {
  const locals: Buffer[] = []
  const entries: Buffer[] = []
  let at = 0
  for (const { name, bytes } of members) {
    const path = Buffer.from(name)
    const packed = deflateRawSync(bytes)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(0x800, 2)
    common.writeUInt16LE(8, 4)
    common.writeUInt16LE(STAMP.time, 6)
    common.writeUInt16LE(STAMP.date, 8)
    common.writeUInt32LE(crc32(bytes), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(bytes.length, 18)
    common.writeUInt16LE(path.length, 22)
    const local = Buffer.concat([numbers([LOCAL, 4]), common, path, packed])
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(at, 10)
    entries.push(Buffer.concat([numbers([ENTRY, 4], [20, 2]), common, rest, path]))
    locals.push(local)
    at += local.length
  }
  const directory = Buffer.concat(entries)
  const end = numbers(
    [END, 4],
    [0, 2],
    [0, 2],
    [members.length, 2],
    [members.length, 2],
    [directory.length, 4],
    [at, 4],
    [0, 2],
  )
  return Buffer.concat([...locals, directory, end])
}

function numbers(...values: [value: number, bytes: 2 | 4][]): Buffer {
  const buffer = Buffer.alloc(values.reduce((sum, [, bytes]) => sum + bytes, 0))
  let at = 0
  for (const [value, bytes] of values) {
    if (bytes === 2) buffer.writeUInt16LE(value, at)
    else buffer.writeUInt32LE(value, at)
    at += bytes
  }
  return buffer
}
