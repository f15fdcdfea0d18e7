import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'

// Writes packages as `npm pack` does, from the pieces in this folder and the programs beside it.

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

type Content = { name: string; content: Buffer }

function writePackage(path: string, files: readonly Content[]): void {
  mkdirSync(dirname(path), { recursive: true })
  const entries = files.map(({ name, content }) => entry(name, content))
  writeFileSync(path, gzipSync(Buffer.concat([...entries, Buffer.alloc(1024)])))
}

const filesIn = (source: string): Content[] =>
  readdirSync(source)
    .filter((name) => name !== 'package.json')
    .map((name) => ({ name, content: readFileSync(join(source, name)) }))

const asFile = (name: string, content: string): Content => ({ name, content: Buffer.from(content) })

/** Writes a package into `folder`, under the name that npm gives it. */
export function packPiece(piece: string, version: string, folder: string, more: Record<string, string> = {}): void {
  const about = JSON.stringify({ name: `@activepieces/piece-${piece}`, version, main: './index.cjs' })
  writePackage(join(folder, `activepieces-piece-${piece}-${version}.tgz`), [
    ...filesIn(join(import.meta.dirname, piece)),
    ...Object.entries(more).map(([name, content]) => asFile(name, content)),
    asFile('package.json', about),
  ])
}

/** As above for a program, with more fields in its package.json. */
export function packProgram(program: string, version: string, folder: string, more: object = {}): void {
  const about = JSON.stringify({ name: `@parts/${program}`, version, type: 'module', bin: './server.mjs', ...more })
  writePackage(join(folder, `parts-${program}-${version}.tgz`), [
    ...filesIn(join(import.meta.dirname, '../programs', program)),
    asFile('package.json', about),
  ])
}
