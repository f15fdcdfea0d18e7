import { setTimeout as sleep } from 'node:timers/promises'
import { type NodeCall, NodeFailure } from '#engine/node'
import { isObject } from '#model/json'
import { SECOND } from '#platform/clock'
import { fields } from './kind.ts'

/** Returns the seconds to wait before the request, or undefined if too many requests already wait. */
export type TakeRate = (wanted: {
  workspaceId: string
  key: string
  limit: number
  perS: number
}) => Promise<number | undefined>

export const rateField = {
  ...fields(
    {
      limit: { type: 'integer', title: 'Requests', minimum: 1, maximum: 10_000 },
      per_s: { type: 'number', title: 'Per seconds', exclusiveMinimum: 0, maximum: 86_400 },
    },
    ['limit', 'per_s'],
  ),
  title: 'Rate',
  description: 'The maximum number of requests of this node in a number of seconds, across all runs of the workflow',
}

const FULL_AGAIN_S = 60

/** Returns the position of the node in its definition, so items, iterations and attempts share one rate. */
const keyOf = ({ workflowId, nodePath }: Pick<NodeCall, 'workflowId' | 'nodePath'>): string =>
  `${workflowId ?? 'recipe'}:${nodePath.replaceAll(/(#\d+)?\[\d+\]/g, '')}`

export async function awaitRate(call: NodeCall, take: TakeRate): Promise<void> {
  const { rate } = call.args
  if (!isObject(rate)) return
  const [limit, perS] = [Number(rate.limit), Number(rate.per_s)]
  const wait = await take({ workspaceId: call.workspaceId, key: keyOf(call), limit, perS })
  if (wait === undefined)
    throw new NodeFailure('rate_exceeded', 'too many requests of this node are already waiting', {
      retryAfterS: FULL_AGAIN_S,
      nothingDone: true,
    })
  if (wait > 0) await sleep(wait * SECOND, undefined, { signal: call.signal })
}
