// All node kinds. A type that is not in this table can be neither saved nor run.

import type { OpenCredential } from '#engine/credentials'
import type { Files } from '#engine/files'
import type { NodeKind } from '#engine/node'
import type { NodeDescriptor } from '#model/node'
import type { Outgoing } from '#platform/outgoing/outgoing'
import type { Sandbox } from '#platform/sandbox/sandbox'
import type { Conversion } from '#providers/conversion/index'
import type { Mail } from '#providers/mail/index'
import type { Odds } from '#providers/odds/index'
import type { PieceRunner } from '#providers/services/pieces/runner'
import type { ProgramRunner } from '#providers/services/programs/runner'
import { approval } from './approval.ts'
import { branch } from './branch.ts'
import { clarification } from './clarification.ts'
import { makeCode } from './code.ts'
import { fail } from './fail.ts'
import { makeFileConvert } from './file-convert.ts'
import { makeFileRead } from './file-read.ts'
import { makeFileWrite } from './file-write.ts'
import type { TakeRate } from './http-rate.ts'
import { makeHttpRequest } from './http-request.ts'
import { httpRespond } from './http-respond.ts'
import { type AnyKind, isControl } from './kind.ts'
import { loop } from './loop.ts'
import { makeMailSend } from './mail-send.ts'
import { map } from './map.ts'
import { makeNotify, type Notify } from './notify.ts'
import { makeOddsFetch } from './odds-fetch.ts'
import { type FindImported, type FindLock, makeServiceCall } from './service-call.ts'
import { set } from './set.ts'
import { subworkflow } from './subworkflow.ts'
import { makeTransform } from './transform.ts'
import { wait } from './wait.ts'
import { waitEvent } from './wait-event.ts'

export type NodeDeps = {
  outgoing: Outgoing
  sandbox: Sandbox
  notify: Notify
  mail: Mail
  odds: Odds
  openCredential: OpenCredential
  findImported: FindImported
  pieces: PieceRunner
  programs: ProgramRunner
  findLock: FindLock
  takeRate: TakeRate
  files: Files
  conversion: Pick<Conversion, 'convert'>
}

export type NodeTable = ReadonlyMap<string, AnyKind>

/** `more`: the kinds that areas provide. */
export function makeNodes(deps: NodeDeps, more: readonly AnyKind[] = []): NodeTable {
  const kinds: AnyKind[] = [
    set,
    branch,
    map,
    loop,
    wait,
    waitEvent,
    subworkflow,
    fail,
    approval,
    clarification,
    makeHttpRequest(deps),
    httpRespond,
    makeTransform(deps),
    makeCode(deps),
    makeNotify(deps),
    makeMailSend(deps),
    makeOddsFetch(deps),
    makeFileRead(deps),
    makeFileWrite(deps),
    makeFileConvert(deps),
    makeServiceCall(deps),
    ...more,
  ]
  const table = new Map<string, AnyKind>()
  for (const kind of kinds) {
    if (table.has(kind.descriptor.type)) throw new Error(`node type ${kind.descriptor.type} exists twice`)
    table.set(kind.descriptor.type, kind)
  }
  return table
}

/** Returns the descriptors for the validation of definitions. */
export const descriptorsOf = (nodes: NodeTable): ReadonlyMap<string, NodeDescriptor> =>
  new Map([...nodes].map(([type, kind]) => [type, kind.descriptor]))

/**
 * Returns the kinds that a worker runs, and `more`, which definitions of users must not name. The record has no
 * prototype, so that a type cannot name an inherited property.
 */
export function runnableOf(nodes: NodeTable, more: readonly NodeKind[] = []): Record<string, NodeKind> {
  const runnable: Record<string, NodeKind> = Object.create(null)
  for (const [type, kind] of nodes) if (!isControl(kind)) runnable[type] = kind
  for (const kind of more) runnable[kind.descriptor.type] = kind
  return runnable
}
