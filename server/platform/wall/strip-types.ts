import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'

// Converts our files that run behind the wall to JavaScript. A process that strips the types itself would load a
// compiler: 18 MB and about 300 ms per process.

let folder: string | undefined
const written = new Map<string, string>()

function ownFolder(): string {
  if (folder !== undefined) return folder
  const made = mkdtempSync(join(tmpdir(), 'hdl-'))
  process.once('exit', () => rmSync(made, { recursive: true, force: true }))
  folder = made
  return made
}

/**
 * Returns the path of the converted file, in its own folder. The file may import only what comes with Node. It is
 * written again if a cleaner of old files deleted it.
 */
export function toJavaScript(file: string): string {
  const known = written.get(file)
  if (known !== undefined && existsSync(known)) return known
  const place = known === undefined ? join(ownFolder(), String(written.size)) : dirname(known)
  mkdirSync(place, { recursive: true })
  const path = join(place, basename(file).replace(/\.ts$/, '.mjs'))
  const source = readFileSync(file, 'utf8')
  writeFileSync(path, file.endsWith('.ts') ? stripped(source) : source)
  written.set(file, path)
  return path
}

/**
 * Node.js warns once that the function is experimental. The warning is suppressed, because it would alarm operators.
 */
function stripped(source: string): string {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return stripTypeScriptTypes(source)
  } finally {
    process.emitWarning = emitWarning
  }
}
