import { Wrench } from 'lucide-react'
import { isObject } from '#model/json'
import type { ExecutionNodeDetail } from '#sdk/types.generated'
import { Badge } from '#web/ui/badge.tsx'
import { plural } from '#web/ui/format.ts'
import { ExecutionData } from './execution-data.tsx'

type Call = { tool: string; arguments: unknown; ok: boolean; result: unknown }
type Turn = { turn: number; text: string; calls: Call[] }

/** Returns the turns of an agent, from its output. */
export function turnsOf(output: unknown): Turn[] {
  if (!isObject(output) || !Array.isArray(output.steps)) return []
  return output.steps.flatMap((step): Turn[] => {
    if (!isObject(step) || typeof step.turn !== 'number') return []
    const calls = Array.isArray(step.calls) ? step.calls : []
    return [
      {
        turn: step.turn,
        text: typeof step.text === 'string' ? step.text : '',
        calls: calls.flatMap((call): Call[] =>
          isObject(call) && typeof call.tool === 'string'
            ? [{ tool: call.tool, arguments: call.arguments, ok: call.ok === true, result: call.result }]
            : [],
        ),
      },
    ]
  })
}

/** What an agent wrote and did, turn by turn. */
export function AgentTurns({ detail, execution_id }: { detail: ExecutionNodeDetail; execution_id: string }) {
  const turns = detail.type === 'agent.run' ? turnsOf(detail.attempts.at(-1)?.output) : []
  if (turns.length === 0) return null
  return (
    <section aria-label="Turns of the agent">
      <h3 className="mb-1 font-medium">{plural(turns.length, 'turn', 'turns')} of the agent</h3>
      <ol className="flex flex-col gap-2">
        {turns.map((turn) => (
          <li key={turn.turn} className="rounded-md border border-line p-2.5">
            <p className="text-xs text-ink-2">Turn {turn.turn}</p>
            {turn.text !== '' && <p className="mt-1 break-words whitespace-pre-wrap">{turn.text}</p>}
            {turn.calls.map((call, at) => (
              <details
                // biome-ignore lint/suspicious/noArrayIndexKey: the calls of a turn do not change
                key={at}
                className="mt-2"
              >
                <summary className="flex cursor-pointer items-center gap-2">
                  <Wrench aria-hidden className="size-4 shrink-0 text-ink-2" />
                  <span className="min-w-0 truncate font-mono text-xs">{call.tool}</span>
                  {!call.ok && <Badge tone="danger">Failed</Badge>}
                </summary>
                <div className="mt-2 grid gap-3 @2xl:grid-cols-2">
                  <ExecutionData
                    value={call.arguments}
                    label={`Arguments of ${call.tool}`}
                    execution_id={execution_id}
                  />
                  <ExecutionData value={call.result} label={`Result of ${call.tool}`} execution_id={execution_id} />
                </div>
              </details>
            ))}
          </li>
        ))}
      </ol>
    </section>
  )
}
