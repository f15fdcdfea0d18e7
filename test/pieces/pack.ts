import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

// Packages as `npm pack` writes them, of the pieces in this folder.

function entry(name: string, content: Buffer): Buffer {
  const head = Buffer.alloc(512)
  head.write(`package/${name}`, 0)
  head.write('0000644\0', 100)
  head.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124)
  head.write('        ', 148)
  head.write('0', 156)
  head.write('ustar\x0000', 257)
  const sum = head.reduce((total, byte) => total + byte, 0)
  head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  const rest = Buffer.alloc((512 - (content.length % 512)) % 512)
  return Buffer.concat([head, content, rest])
}

/** A file in `folder`, under the name that npm gives it. */
export function packPiece(piece: string, version: string, folder: string, more: Record<string, string> = {}): void {
  const source = join(import.meta.dirname, piece)
  const files = readdirSync(source).map((name) => [name, readFileSync(join(source, name))] as const)
  const about = JSON.stringify({ name: `@activepieces/piece-${piece}`, version, main: './index.cjs' })
  const entries = [
    ...files.filter(([name]) => name !== 'package.json').map(([name, content]) => entry(name, content)),
    ...Object.entries(more).map(([name, content]) => entry(name, Buffer.from(content))),
    entry('package.json', Buffer.from(about)),
  ]
  mkdirSync(folder, { recursive: true })
  const archive = gzipSync(Buffer.concat([...entries, Buffer.alloc(1024)]))
  writeFileSync(join(folder, `activepieces-piece-${piece}-${version}.tgz`), archive)
}
