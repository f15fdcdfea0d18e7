import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import type { Definition, Json, JsonObject } from '#model/definition'
import type { Effect } from '#model/node'
import { type Database, type DatabaseUrls, openDatabase } from '#platform/db/pool'
import { newId } from '#platform/ids'
import { makeDiskBlobs } from '#providers/blobs/disk'
import { type EngineOptions, startEngine } from './engine.ts'
import { type FlowSettings, flowOf } from './flow/rules.ts'
import type { NodeCall, NodeKind, NodeResult } from './node.ts'
import type { EndedExecution, Engine, EnginePorts, Start, WaitRequest } from './ports.ts'

// An engine with small nodes and in-memory areas, for tests and benchmarks.

export const kind = (
  type: string,
  effect: Effect,
  run: (call: NodeCall) => Promise<NodeResult> | NodeResult,
): NodeKind => ({
  descriptor: {
    type,
    kind: 'tool',
    group: 'tools',
    title: type,
    description: '',
    icon: '',
    colour: '',
    keywords: [],
    args_schema: {},
    output_schema: {},
    ports: ['out'],
    effect,
    defaults: {},
  },
  run: async (call) => run(call),
})

/** Returns its `value` argument. */
export const echo = kind('echo', 'pure', (call) => ({ output: call.args.value ?? null }))

/** The same, as a node with an effect that may be repeated. */
export const call = kind('call', 'idempotent', ({ args }) => ({ output: args.value ?? null }))

export type Bench = {
  engine: Engine
  db: Database
  workspaceId: string
  definitions: Map<string, Definition>
  opened: WaitRequest[]
  ended: EndedExecution[]
  define(definition: Definition): string
  run(definition: Definition | string, input?: Json, more?: Partial<Start>): Promise<string>
  /** Sets the rules of a workflow, and returns the fields for a start of it. */
  rule(workflowId: string, settings: FlowSettings): Promise<Pick<Start, 'workflowId' | 'flow'>>
  stop(): Promise<void>
}

export const chain = (length: number, type = 'echo'): Definition => ({
  nodes: Array.from({ length }, (_, index) => ({
    id: `n${index}`,
    type,
    args: (index === 0
      ? { value: { $ref: 'input.value' } }
      : { value: { $ref: `nodes.n${index - 1}.output` } }) as JsonObject,
  })),
  edges: Array.from({ length: length - 1 }, (_, index) => ({ from: { node: `n${index}` }, to: `n${index + 1}` })),
  output: { $ref: `nodes.n${length - 1}.output` },
})

export const startTestEngine = async (
  urls: DatabaseUrls,
  options: {
    nodes?: NodeKind[]
    definitions?: Map<string, Definition>
    workspaceId?: string
    ports?: Partial<EnginePorts>
    engine?: Partial<EngineOptions>
    level?: string
  } = {},
): Promise<Bench> => {
  const log = pino({ level: options.level ?? 'fatal' })
  const db = openDatabase({ urls, log })
  const folder = await mkdtemp(join(tmpdir(), 'heddle-blobs-'))
  const definitions = options.definitions ?? new Map<string, Definition>()
  const opened: WaitRequest[] = []
  const ended: EndedExecution[] = []
  const open = async (wait: WaitRequest) => {
    opened.push(wait)
    return { data: { title: wait.args.title ?? wait.args.question ?? '' } }
  }
  const ports: EnginePorts = {
    loadDefinition: async (_workspaceId, ref) => {
      const found = definitions.get(ref)
      if (!found) throw new Error(`no definition ${ref}`)
      return found
    },
    resolveWorkflow: async (_workspaceId, wanted) => ({
      definitionRef: wanted.workflow_id,
      workflowId: null,
      versionId: null,
    }),
    describeWorkflow: async (_workspaceId, { workflow_id }) => ({ name: workflow_id, description: null, inputs: true }),
    readVariables: async () => ({}),
    finallyGrace: async () => 60,
    openGate: open,
    askQuestion: open,
    awaitEvent: open,
    callbackUrl: ({ nodePath }) => `https://heddle.example/api/callbacks/${nodePath}`,
    due: async () => ({ dueAt: null }),
    closeAbandoned: async () => {},
    ended: async (execution) => void ended.push(execution),
    blobs: makeDiskBlobs(folder),
    nodes: Object.fromEntries([echo, call, ...(options.nodes ?? [])].map((node) => [node.descriptor.type, node])),
    ...options.ports,
  }
  const engine = await startEngine({ db, ports, log, ...options.engine })
  const workspaceId = options.workspaceId ?? newId()
  const define = (definition: Definition): string => {
    const ref = `adhoc:${newId()}`
    definitions.set(ref, definition)
    return ref
  }
  return {
    engine,
    db,
    workspaceId,
    definitions,
    opened,
    ended,
    define,
    run: async (definition, input = {}, more = {}) => {
      const definitionRef = typeof definition === 'string' ? definition : define(definition)
      const started = await engine.start({
        definitionRef,
        workflowId: null,
        versionId: null,
        workspaceId,
        input,
        trigger: { kind: 'user', id: null },
        startedBy: null,
        ...more,
      })
      return started.executionId
    },
    rule: async (workflowId, settings) => {
      await db.engine((tx) =>
        tx.rows('select engine.set_flow($1, $2, $3)', [workspaceId, workflowId, JSON.stringify(settings)]),
      )
      return { workflowId, flow: flowOf(settings) }
    },
    stop: async () => {
      await engine.stop()
      await db.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
