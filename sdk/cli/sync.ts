import { isDeepStrictEqual } from 'node:util'
import type { Client } from '../client.ts'
import { all } from '../lists.ts'
import { HeddleProblem } from '../problems.ts'
import type { Workflow, WorkflowExport } from '../types.generated.ts'
import {
  type Document,
  fileFor,
  hashOf,
  isCode,
  readDocuments,
  readState,
  removeDocument,
  type State,
  startedBy,
  writeDocument,
  writeState,
} from './folder.ts'

// `heddle pull` and `heddle push` synchronise a folder in git with the workflows of a workspace. Nothing is deleted
// without --delete, and a workflow that changed on both sides is not changed on either side.

export type Options = { directory: string; dryRun: boolean; force: boolean; delete: boolean }

export type Outcome = 'created' | 'changed' | 'same' | 'deleted' | 'only_here' | 'only_there' | 'conflict' | 'failed'
export type Line = { file: string; name: string; outcome: Outcome; message?: string; workflow_id?: string }

const NOTE = 'pushed from a folder'

type Remote = { workflow: Workflow; exported: WorkflowExport; isPushed: boolean }

/** Returns the workflows that the caller may change and that have an active version. */
async function readRemote(client: Client, userId: string): Promise<Remote[]> {
  const found: Remote[] = []
  for await (const workflow of all(client.listWorkflows)) {
    const mine =
      workflow.owner_id === userId ||
      workflow.members.some(({ user_id, role }) => user_id === userId && role === 'editor')
    if (workflow.kind !== 'user' || !mine || workflow.active_version_id === null) continue
    const { workflow_id, active_version_id: version_id } = workflow
    const exported = await client.exportWorkflow({ workflow_id, version_id })
    const { note } = await client.getVersion({ workflow_id, version_id })
    found.push({ workflow, exported, isPushed: note === NOTE })
  }
  return found
}

async function open(client: Client, directory: string) {
  const { user, selected_workspace_id, workspaces } = await client.getMe()
  const only = workspaces.length === 1 ? workspaces[0]!.workspace_id : null
  const workspaceId = client.options.workspaceId ?? selected_workspace_id ?? only
  if (workspaceId === null) throw new Error('Name a workspace with --workspace ws_….')
  const state = readState(directory)
  state[workspaceId] ??= {}
  const known = state[workspaceId]!
  const remote = await readRemote(client, user.user_id)
  return { state, known, remote, local: await readDocuments(directory) }
}

const remember = (known: State[string], file: string, workflow_id: string, document: Document): void => {
  known[file] = { workflow_id, sha256: hashOf(document) }
}

/**
 * Returns the file of a workflow: the file it was last synchronised with, or else a file with the same name that
 * belongs to no other workflow.
 */
function fileOf(
  { workflow }: Remote,
  known: State[string],
  local: ReadonlyMap<string, Document>,
  taken: ReadonlySet<string>,
): string {
  const remembered = Object.entries(known).find(([, { workflow_id }]) => workflow_id === workflow.workflow_id)
  if (remembered) return remembered[0]
  for (const [file, { name }] of local) if (name === workflow.name && !taken.has(file) && !known[file]) return file
  return fileFor(workflow.name, new Set([...taken, ...local.keys(), ...Object.keys(known)]))
}

export async function pull(client: Client, options: Options): Promise<Line[]> {
  const { directory, dryRun } = options
  const { state, known, remote, local } = await open(client, directory)
  const lines: Line[] = []
  const taken = new Set<string>()
  for (const one of remote) {
    const file = fileOf(one, known, local, taken)
    taken.add(file)
    lines.push(pullOne(options, one, file, known, local))
  }
  for (const [file, { workflow_id }] of Object.entries(known)) {
    if (taken.has(file)) continue
    const document = local.get(file)
    if (document) lines.push(goneThere(options, file, document, workflow_id))
    if (!document || options.delete) delete known[file]
  }
  for (const [file, { name }] of local)
    if (!taken.has(file) && !lines.some((line) => line.file === file))
      lines.push({ file, name, outcome: 'only_here', message: 'was never pushed to this workspace' })
  if (!dryRun && remote.length + local.size > 0) writeState(directory, state)
  return lines
}

function goneThere(
  { directory, dryRun, ...options }: Options,
  file: string,
  { name }: Document,
  workflow_id: string,
): Line {
  if (!options.delete)
    return {
      file,
      name,
      outcome: 'only_here',
      workflow_id,
      message: 'was deleted in the workspace; --delete removes the file',
    }
  if (!dryRun) removeDocument(directory, file)
  return { file, name, outcome: 'deleted', workflow_id }
}

function pullOne(
  { directory, dryRun, force }: Options,
  { exported }: Remote,
  file: string,
  known: State[string],
  local: ReadonlyMap<string, Document>,
): Line {
  const { document, workflow_id } = exported
  const line = { file, name: document.name, workflow_id }
  const here = local.get(file)
  const inStep = known[file]?.sha256
  if (here && hashOf(here) === hashOf(document)) {
    remember(known, file, workflow_id, document)
    return { ...line, outcome: 'same' }
  }
  if (here && isCode(file)) {
    const isSame = isDeepStrictEqual(here.definition, document.definition)
    return isSame
      ? { ...line, outcome: 'same' }
      : { ...line, outcome: 'conflict', message: 'the file is code; change it by hand' }
  }
  if (here && !force && hashOf(here) !== inStep) {
    if (inStep === hashOf(document))
      return {
        ...line,
        outcome: 'same',
        message: 'the file was changed; push it, or discard the change with pull --force',
      }
    return {
      ...line,
      outcome: 'conflict',
      message: 'both the file and the workspace were changed; --force overwrites the file',
    }
  }
  if (!dryRun) {
    writeDocument(directory, file, document)
    remember(known, file, workflow_id, document)
  }
  return { ...line, outcome: here ? 'changed' : 'created' }
}

/** Orders the files so that a workflow precedes the workflows that start it. */
function inOrder(local: ReadonlyMap<string, Document>): string[] {
  const byName = new Map([...local].map(([file, { name }]) => [name, file]))
  const ordered = new Set<string>()
  const visit = (file: string, above: readonly string[]): void => {
    if (ordered.has(file) || above.includes(file)) return
    for (const name of startedBy(local.get(file))) {
      const other = byName.get(name)
      if (other !== undefined) visit(other, [...above, file])
    }
    ordered.add(file)
  }
  for (const file of local.keys()) visit(file, [])
  return [...ordered]
}

export async function push(client: Client, options: Options): Promise<Line[]> {
  const { directory, dryRun } = options
  const { state, known, remote, local } = await open(client, directory)
  const lines: Line[] = []
  const used = new Set<string>()
  const coming = new Set([...local.values()].map(({ name }) => name))
  for (const file of inOrder(local)) {
    const document = local.get(file)!
    const found = findRemote(document, known[file]?.workflow_id, remote, used)
    if (found) used.add(found.workflow.workflow_id)
    lines.push(await pushOne(client, options, { file, document, found, known, coming }))
    if (!dryRun) writeState(directory, state)
  }
  for (const { workflow } of remote) {
    const { workflow_id, name } = workflow
    if (used.has(workflow_id)) continue
    const [file] = Object.entries(known).find(([, one]) => one.workflow_id === workflow_id) ?? []
    lines.push(await goneHere(client, options, { workflow_id, name, file }))
    if (file !== undefined && options.delete && !dryRun) delete known[file]
  }
  if (!dryRun) writeState(directory, state)
  return lines
}

function findRemote(
  { name }: Document,
  workflowId: string | undefined,
  remote: readonly Remote[],
  used: ReadonlySet<string>,
): Remote | undefined {
  const free = remote.filter(({ workflow }) => !used.has(workflow.workflow_id))
  const remembered = free.find(({ workflow }) => workflow.workflow_id === workflowId)
  if (remembered) return remembered
  const called = free.filter(({ workflow }) => workflow.name === name)
  if (called.length > 1) throw new Error(`${called.length} workflows are called "${name}" there; rename all but one.`)
  return called[0]
}

/**
 * Handles a workflow without a file. Only a workflow that was pushed from this folder and whose file was removed is
 * ever deleted.
 */
async function goneHere(
  client: Client,
  { dryRun, ...options }: Options,
  { workflow_id, name, file }: { workflow_id: string; name: string; file: string | undefined },
): Promise<Line> {
  const line = { file: file ?? '', name, workflow_id }
  if (file === undefined) return { ...line, outcome: 'only_there', message: 'has no file; pull writes one' }
  if (!options.delete)
    return { ...line, outcome: 'only_there', message: 'its file was removed; --delete deletes the workflow too' }
  if (!dryRun) await client.deleteWorkflow({ workflow_id })
  return { ...line, outcome: 'deleted' }
}

async function pushOne(
  client: Client,
  { dryRun, force }: Options,
  {
    file,
    document,
    found,
    known,
    coming,
  }: {
    file: string
    document: Document
    found: Remote | undefined
    known: State[string]
    coming: ReadonlySet<string>
  },
): Promise<Line> {
  const line = { file, name: document.name, ...(found && { workflow_id: found.workflow.workflow_id }) }
  if (found && hashOf(found.exported.document) === hashOf(document)) {
    remember(known, file, found.workflow.workflow_id, document)
    return { ...line, outcome: 'same' }
  }
  const isExpected = !found || force || found.isPushed || known[file]?.sha256 === hashOf(found.exported.document)
  if (!isExpected)
    return { ...line, outcome: 'conflict', message: 'it was changed in the workspace; pull first, or push --force' }
  try {
    const imported = await client.importWorkflow({
      document,
      note: NOTE,
      activate: true,
      dry_run: dryRun,
      ...(found && { workflow_id: found.workflow.workflow_id, expected_version_id: found.exported.version_id }),
    })
    const { workflow_id } = imported
    if (!dryRun && workflow_id !== null) remember(known, file, workflow_id, document)
    const warned = imported.warnings?.map(({ path, message }) => `${path} ${message}`).join('; ')
    return {
      ...line,
      ...(workflow_id !== null && { workflow_id }),
      outcome: imported.created ? 'created' : imported.changed ? 'changed' : 'same',
      ...(warned && { message: warned }),
    }
  } catch (error) {
    if (!(error instanceof HeddleProblem) || error.status >= 500) throw error
    if (error.status === 412)
      return { ...line, outcome: 'conflict', message: 'it was just changed in the workspace; pull first' }
    const missing = error.errors.filter(({ message }) => !(dryRun && isComing(message, coming)))
    if (dryRun && error.errors.length > 0 && missing.length === 0)
      return { ...line, outcome: found ? 'changed' : 'created', message: 'after the workflows it starts' }
    const messages = missing.map(({ path, message }) => `${path} ${message}`)
    return { ...line, outcome: 'failed', message: [error.message, ...messages].join('; ') }
  }
}

/** In a dry run, workflows that this push would create do not exist yet. */
const isComing = (message: string, coming: ReadonlySet<string>): boolean =>
  [...coming].some((name) => message.startsWith(`there is no workflow "${name}" `))

/** 0: synchronised. 1: a change was refused. 3: a conflict. 4: a dry run found changes. */
export function exitCodeOf(lines: readonly Line[], dryRun: boolean): number {
  const has = (...outcomes: Outcome[]): boolean => lines.some(({ outcome }) => outcomes.includes(outcome))
  if (has('failed')) return 1
  if (has('conflict')) return 3
  return dryRun && has('created', 'changed', 'deleted') ? 4 : 0
}
