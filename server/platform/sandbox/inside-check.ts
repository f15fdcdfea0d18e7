// Finds errors that running a source would certainly cause, without running it: a source that does not compile, and
// undefined names.

import jsonata from 'jsonata'
import { unknownNames } from '#model/code-names'
import type { Source, SourceProblem } from './frames.ts'
import { compileCode } from './inside-code.ts'
import { Refused, withinSize } from './inside-refused.ts'
import { describe, MAX_EXPRESSION } from './inside-transform.ts'

const MAX_PROBLEMS = 10

async function checkCode(source: string): Promise<SourceProblem[]> {
  const names = unknownNames(await compileCode(source)) ?? []
  return names.map(({ name, line, isModule }) => ({
    line,
    message: isModule
      ? `"${name.slice(0, 64)}" cannot be imported; code has no packages`
      : `"${name.slice(0, 64)}" is not defined; code has no network, files, timers or packages`,
  }))
}

type Called = { names: Set<string>; bound: Set<string> }

const nameIn = (value: unknown): string | undefined => {
  const { type, value: name } = (value ?? {}) as { type?: unknown; value?: unknown }
  return type === 'variable' && typeof name === 'string' && name !== '' ? name : undefined
}

/** Collects the variables that an expression calls, and those that it binds anywhere. */
function look(value: unknown, called: Called, seen: Set<object>): void {
  if (typeof value !== 'object' || value === null || seen.has(value)) return
  seen.add(value)
  const { type, procedure, lhs, arguments: parameters, focus, index } = value as Record<string, unknown>
  const name = type === 'function' || type === 'partial' ? nameIn(procedure) : undefined
  if (name !== undefined) called.names.add(name)
  const bound = type === 'bind' ? [lhs] : type === 'lambda' && Array.isArray(parameters) ? parameters : []
  for (const one of bound) called.bound.add(nameIn(one) ?? '')
  for (const one of [focus, index]) if (typeof one === 'string') called.bound.add(one)
  for (const child of Object.values(value)) look(child, called, seen)
}

async function checkTransform(source: string): Promise<SourceProblem[]> {
  if (source.length > MAX_EXPRESSION) throw new Refused('transform_failed', 'the expression is too long')
  const called: Called = { names: new Set(), bound: new Set() }
  try {
    look(jsonata(source).ast(), called, new Set())
  } catch (error) {
    if (error instanceof RangeError) return []
    throw new Refused('transform_failed', describe(error))
  }
  const problems: SourceProblem[] = []
  for (const name of called.names)
    if (!called.bound.has(name) && /^\w+$/.test(name) && (await jsonata(`$${name}`).evaluate(null)) === undefined)
      problems.push({ line: null, message: `there is no function $${name.slice(0, 64)}` })
  return problems
}

async function problemsOf({ language, source }: Source): Promise<SourceProblem[]> {
  try {
    const problems = await (language === 'code' ? checkCode(source) : checkTransform(source))
    return problems.slice(0, MAX_PROBLEMS)
  } catch (error) {
    if (error instanceof Refused) return [{ line: null, message: error.message }]
    throw error
  }
}

export async function checkSources(body: string): Promise<string> {
  const found: SourceProblem[][] = []
  for (const source of JSON.parse(body) as Source[]) found.push(await problemsOf(source))
  return withinSize(JSON.stringify(found))
}
