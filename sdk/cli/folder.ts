import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { WorkflowExport } from '../types.generated.ts'
import type { Workflow } from '../workflows/build.ts'

// A folder of workflows: one file each, always written in the same format, and a state file that records the last
// synchronised version per workspace. The files contain no ids, so that the same folder can be pushed to several
// workspaces.

export type Document = WorkflowExport['document']

const STATE = '.heddle.json'

/** Per workspace and file: the workflow, and the hash of the document at the last synchronisation. */
export type State = Record<string, Record<string, { workflow_id: string; sha256: string }>>

export function readState(directory: string): State {
  const file = join(directory, STATE)
  if (!existsSync(file)) return {}
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as State
  } catch {
    throw new Error(`${file} is not JSON. Restore it from git, or delete it and pull again.`)
  }
}

export const writeState = (directory: string, state: State): void => write(join(directory, STATE), textOf(state, []))

/** Writes a temporary file and renames it, so that an interrupted command leaves no partial file. */
function write(file: string, text: string): void {
  writeFileSync(`${file}.tmp`, text)
  renameSync(`${file}.tmp`, file)
}

const FIRST = [
  'heddle',
  'id',
  'type',
  'name',
  'description',
  'settings',
  'definition',
  'inputs',
  'nodes',
  'edges',
  'output',
]

/** Prints keys in a fixed order, so that the same workflow always gives the same text, in any stored order. */
function textOf(value: unknown, first: readonly string[]): string {
  const rank = (key: string): number => (first.includes(key) ? first.indexOf(key) : first.length)
  const order = (_key: string, item: unknown): unknown =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : a > b ? 1 : 0)))
      : item
  return `${JSON.stringify(value, order, 2)}\n`
}

export const documentText = (document: Document): string => textOf(document, FIRST)

/** Returns the hash of a document. Fields that a workflow in code leaves out have the same defaults as in an export. */
export const hashOf = ({ name, description = null, settings = {}, definition }: Document): string =>
  createHash('sha256').update(documentText({ name, description, settings, definition })).digest('hex')

/** Checks for a module whose default export is a workflow of `@heddle/workflows`. */
export const isCode = (file: string): boolean => /\.workflow\.(ts|mts|js|mjs)$/.test(file)

async function readCode(path: string): Promise<Document> {
  const { default: workflow } = (await import(pathToFileURL(resolve(path)).href)) as { default?: Partial<Workflow> }
  if (typeof workflow?.definition !== 'function' || typeof workflow.name !== 'string')
    throw new Error(`${path} has no workflow as its default export.`)
  return { name: workflow.name, definition: { ...workflow.definition() } }
}

function readJson(path: string): Document {
  let document: Document
  try {
    document = JSON.parse(readFileSync(path, 'utf8')) as Document
  } catch (error) {
    throw new Error(`${path} is not JSON: ${(error as Error).message}`)
  }
  if (typeof document?.name !== 'string' || typeof document.definition !== 'object')
    throw new Error(`${path} is not an exported workflow: it has no name and definition.`)
  return document
}

export async function readDocuments(directory: string): Promise<Map<string, Document>> {
  const found = new Map<string, Document>()
  if (!existsSync(directory)) return found
  for (const file of readdirSync(directory).sort()) {
    const path = join(directory, file)
    if (isCode(file)) found.set(file, await readCode(path))
    else if (file.endsWith('.json') && file !== STATE) found.set(file, readJson(path))
  }
  return found
}

export function writeDocument(directory: string, file: string, document: Document): void {
  mkdirSync(directory, { recursive: true })
  write(join(directory, file), documentText(document))
}

export const removeDocument = (directory: string, file: string): void => rmSync(join(directory, file), { force: true })

/** Returns a unique file name for a workflow. */
export function fileFor(name: string, taken: ReadonlySet<string>): string {
  const slug =
    name
      .normalize('NFKD')
      .replaceAll(/\p{M}/gu, '')
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-+|-+$/g, '')
      .slice(0, 60) || 'workflow'
  for (let number = 1; ; number += 1) {
    const file = `${number === 1 ? slug : `${slug}-${number}`}.json`
    if (!taken.has(file)) return file
  }
}

/** Returns the names of the workflows that a document starts. */
export function startedBy(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const { $name, kind } = value as { $name?: unknown; kind?: unknown }
  if (typeof $name === 'string' && kind === 'workflow') return [$name]
  return Object.values(value).flatMap(startedBy)
}
