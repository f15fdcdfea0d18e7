// Runs JavaScript and TypeScript of a `code` node in QuickJS, a separate engine compiled to WebAssembly. Each call gets
// a new WebAssembly instance, so that not even a fault of the engine carries anything over from one tenant to the next.

import { readFileSync } from 'node:fs'
import { createRequire, stripTypeScriptTypes } from 'node:module'
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSWASMModule,
  RELEASE_SYNC,
} from 'quickjs-emscripten'
import { LOG_LEVELS, type LogLevel } from './frames.ts'
import { Refused, withinSize } from './inside-refused.ts'
import { addWebApis } from './inside-web.ts'

const MAX_SOURCE = 256 * 1024
const MAX_LOG_LINES = 100
const MAX_LOG_LINE = 1_000
const STACK_BYTES = 256 * 1024
const COMPILE_MB = 64

const wasmFile = createRequire(import.meta.url).resolve('@jitl/quickjs-wasmfile-release-sync/wasm')
const wasmModule = new WebAssembly.Module(readFileSync(wasmFile))
const variant = newVariant(RELEASE_SYNC, { wasmModule })

/** An engine created in advance, while no call waits. Used once. */
let spare: Promise<QuickJSWASMModule> | undefined
const takeEngine = (): Promise<QuickJSWASMModule> => {
  const engine = spare ?? newQuickJSWASMModuleFromVariant(variant)
  spare = undefined
  return engine
}
export const prepareEngine = (): void => {
  spare ??= newQuickJSWASMModuleFromVariant(variant)
}

/** Loads the parser, and lets it print its warning that it is experimental, before anything is frozen. */
export const prepareTypeScript = (): void => void stripTypeScriptTypes('let a: 1')

/** The log of the code: lines, and the level of each line. */
export type CodeLog = { logs: string[]; levels: LogLevel[] }

export type CodeLimits = { timeMs: number; memoryMb: number }

export async function runCode(
  source: string,
  inputText: string,
  limits: CodeLimits,
  written: CodeLog,
): Promise<string> {
  if (source.length > MAX_SOURCE) throw new Refused('code_failed', 'the source is too long')
  const engine = await takeEngine()
  const runtime = engine.newRuntime()
  const clock = startClock(limits.timeMs)
  runtime.setMemoryLimit(limits.memoryMb * 1024 * 1024)
  runtime.setMaxStackSize(STACK_BYTES)
  runtime.setInterruptHandler(() => {
    endWithParent()
    return clock.expired()
  })
  const context = runtime.newContext()
  // The context is not disposed: a failing script leaves handles behind, and the whole instance is dropped anyway.
  try {
    addLog(context, written)
    addWebApis(context)
    return evaluate(context, runtime, toScript(context, source), inputText)
  } catch (error) {
    if (clock.expired()) throw new Refused('sandbox_timeout', `the code ran for more than ${limits.timeMs} ms`)
    if (error instanceof Refused) throw error
    throw new Refused('code_failed', error instanceof Error ? error.message : 'the code failed')
  }
}

/** Returns the script as it would be run. Throws if it cannot be compiled. Does not run it. */
export async function compileCode(source: string): Promise<string> {
  if (source.length > MAX_SOURCE) throw new Refused('code_failed', 'the source is too long')
  const engine = await takeEngine()
  const runtime = engine.newRuntime()
  runtime.setMemoryLimit(COMPILE_MB * 1024 * 1024)
  runtime.setMaxStackSize(STACK_BYTES)
  return toScript(runtime.newContext(), source)
}

const parent = process.ppid
const PARENT_EVERY_MS = 100
let lookedAt = 0

/** Ends the process if the parent is gone. A killed parent closes the pipes, which endless code does not notice. */
function endWithParent(): void {
  const now = performance.now()
  if (now - lookedAt < PARENT_EVERY_MS) return
  lookedAt = now
  if (process.ppid !== parent) process.exit(1)
}

/** Measures mostly CPU time, so that a busy machine does not count against the code. */
function startClock(timeMs: number): { expired(): boolean } {
  const startedAt = performance.now()
  const { user, system } = process.cpuUsage()
  return {
    expired: () => {
      const elapsed = performance.now() - startedAt
      if (elapsed < timeMs) return false
      const now = process.cpuUsage()
      return elapsed > 10 * timeMs || now.user + now.system - user - system > timeMs * 600
    },
  }
}

/** A module has an `export default`. Any other source is the body of a function. */
const isModule = (source: string): boolean => /(^|[;\n])\s*export\s+default\b/.test(source)

function toScript(context: QuickJSContext, source: string): string {
  const script = isModule(source) ? source : `export default async function (input) { ${source}\n}`
  if (compiles(context, script)) return script
  try {
    return stripTypeScriptTypes(script, { mode: 'strip' })
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : ''
    throw new Refused('code_failed', `neither JavaScript nor TypeScript: ${reason || 'syntax error'}`)
  }
}

function compiles(context: QuickJSContext, script: string): boolean {
  const result = context.evalCode(script, 'node.js', { type: 'module', compileOnly: true })
  const ok = result.error === undefined
  result.dispose()
  return ok
}

function evaluate(context: QuickJSContext, runtime: QuickJSRuntime, script: string, inputText: string): string {
  const exports = settle(context, runtime, check(context, context.evalCode(script, 'node.js', { type: 'module' })))
  const entry = context.getProp(exports, 'default')
  if (context.typeof(entry) === 'undefined') throw new Refused('code_failed', 'the module has no default export')
  const json = context.getProp(context.global, 'JSON')
  const input = check(context, context.callMethod(json, 'parse', [context.newString(inputText)]))
  const value =
    context.typeof(entry) === 'function'
      ? settle(context, runtime, check(context, context.callFunction(entry, context.undefined, input)))
      : entry
  const text = check(context, context.callMethod(json, 'stringify', [value]))
  if (context.typeof(text) !== 'string') return 'null'
  return withinSize(context.getString(text))
}

type Outcome = { value: QuickJSHandle; error?: undefined } | { error: QuickJSHandle; value?: undefined }

function check(context: QuickJSContext, result: Outcome): QuickJSHandle {
  if (result.value) return result.value
  throw failureOf(context, result.error as QuickJSHandle)
}

function failureOf(context: QuickJSContext, handle: QuickJSHandle): Refused {
  const dumped: unknown = context.dump(handle)
  if (typeof dumped !== 'object' || dumped === null) return new Refused('code_failed', String(dumped))
  const { name, message, stack } = dumped as { name?: unknown; message?: unknown; stack?: unknown }
  if (name === 'InternalError' && String(message).includes('out of memory')) {
    return new Refused('sandbox_memory', 'the code exceeded its memory limit')
  }
  const line = /node\.js:(\d+)/.exec(String(stack ?? ''))?.[1]
  return new Refused('code_failed', `${name ?? 'Error'}: ${message ?? ''}${line ? ` (line ${line})` : ''}`)
}

/** Runs pending jobs until the promise is settled. There is nothing else that the promise could wait for. */
function settle(context: QuickJSContext, runtime: QuickJSRuntime, handle: QuickJSHandle): QuickJSHandle {
  const jobs = runtime.executePendingJobs()
  if (jobs.error) throw failureOf(context, jobs.error as QuickJSHandle)
  const state = context.getPromiseState(handle)
  if (state.type === 'fulfilled') return state.value
  if (state.type === 'rejected') throw failureOf(context, state.error)
  throw new Refused('code_failed', 'the code waits for a promise that is never settled')
}

/** `log(...)` is `console.log(...)`. */
function addLog(context: QuickJSContext, { logs, levels }: CodeLog): void {
  const writer = (name: string, level: LogLevel): QuickJSHandle =>
    context.newFunction(name, (...args) => {
      if (logs.length >= MAX_LOG_LINES) return
      const line = args.map((arg) => show(context, arg)).join(' ')
      logs.push(line.length > MAX_LOG_LINE ? `${line.slice(0, MAX_LOG_LINE)}…` : line)
      levels.push(level)
    })
  const console = context.newObject()
  for (const level of LOG_LEVELS) context.setProp(console, level, writer(level, level))
  context.setProp(console, 'log', writer('log', 'info'))
  context.setProp(context.global, 'console', console)
  context.setProp(context.global, 'log', writer('log', 'info'))
}

function show(context: QuickJSContext, handle: QuickJSHandle): string {
  if (context.typeof(handle) === 'string') return context.getString(handle)
  const json = context.getProp(context.global, 'JSON')
  const result = context.callMethod(json, 'stringify', [handle])
  if (result.error) return '[unprintable]'
  return context.typeof(result.value) === 'string' ? context.getString(result.value) : context.typeof(handle)
}
