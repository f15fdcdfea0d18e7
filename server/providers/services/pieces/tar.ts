import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { PieceFailure } from './index.ts'

// Unpacks a package in npm's format: a compressed archive with everything below `package/`. Only plain files are
// unpacked.

const BLOCK = 512
const MAX_UNPACKED = 120 * 1024 * 1024
const MAX_FILES = 5_000

const textAt = (block: Buffer, from: number, length: number): string => {
  const part = block.subarray(from, from + length)
  const end = part.indexOf(0)
  return part.toString('utf8', 0, end === -1 ? length : end)
}

/** Returns the `path` of an extended header, which precedes a file with a long name. */
const longName = (content: Buffer): string | undefined => /\d+ path=([^\n]*)\n/.exec(content.toString('utf8'))?.[1]

/** Returns the segments of a path without the first. Undefined if the path would leave the folder. */
function placeOf(name: string): string[] | undefined {
  const steps = name.split('/').filter((step) => step !== '' && step !== '.')
  const bad = steps.some((step) => step === '..' || /[\\\0]/.test(step))
  return bad || steps.length < 2 ? undefined : steps.slice(1)
}

export function unpack(archive: Buffer, folder: string): void {
  let bytes: Buffer
  try {
    bytes = gunzipSync(archive, { maxOutputLength: MAX_UNPACKED })
  } catch {
    throw new PieceFailure('the package is not an archive, or is larger than 120 MB')
  }
  let name: string | undefined
  let files = 0
  for (let at = 0; at + BLOCK <= bytes.length; ) {
    const head = bytes.subarray(at, at + BLOCK)
    if (head.every((byte) => byte === 0)) break
    const size = Number.parseInt(textAt(head, 124, 12).trim() || '0', 8)
    if (!Number.isSafeInteger(size) || size < 0) throw new PieceFailure('the archive of the package is damaged')
    const content = bytes.subarray(at + BLOCK, at + BLOCK + size)
    const type = String.fromCharCode(head[156] ?? 0)
    const prefix = textAt(head, 345, 155)
    const named = name ?? (prefix ? `${prefix}/` : '') + textAt(head, 0, 100)
    name = undefined
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK
    if (type === 'x') name = longName(content)
    else if (type === 'L') name = textAt(content, 0, content.length)
    else if (type === '0' || type === '\0') {
      const place = placeOf(named)
      if (!place) continue
      files += 1
      if (files > MAX_FILES) throw new PieceFailure(`a package has at most ${MAX_FILES} files`)
      const path = join(folder, ...place)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, content, { mode: 0o644 })
    }
  }
}
