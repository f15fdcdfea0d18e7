import type { NodeKind } from '#engine/node'
import { isObject } from '#model/json'
import { MAX_LIMITS, type Sandbox } from '#platform/sandbox/sandbox'
import { checked, codeText, fields } from './kind.ts'
import { sandboxed, waitMsOf } from './sandboxed.ts'

const numberOr = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

export const makeCode = ({ sandbox }: { sandbox: Pick<Sandbox, 'code'> }): NodeKind =>
  checked({
    descriptor: {
      type: 'code',
      kind: 'tool',
      group: 'tools',
      title: 'Code',
      description:
        'Runs JavaScript or TypeScript with the input: the body of a function, or a module with export default (input) => … The code has no network, files or packages.',
      icon: 'code',
      colour: '#7e22ce',
      keywords: ['javascript', 'typescript', 'script', 'function', 'custom'],
      args_schema: fields(
        {
          source: codeText('typescript', { title: 'Source', minLength: 1, maxLength: 262_144 }),
          input: { title: 'Input' },
          limits: fields(
            {
              time_ms: {
                type: 'integer',
                title: 'Time (milliseconds)',
                minimum: 1,
                maximum: MAX_LIMITS.timeMs,
                default: 1_000,
              },
              memory_mb: {
                type: 'integer',
                title: 'Memory (MB)',
                minimum: 1,
                maximum: MAX_LIMITS.memoryMb,
                default: 64,
              },
            },
            [],
            { title: 'Limits' },
          ),
        },
        ['source'],
      ),
      output_schema: { description: 'The return value, as JSON' },
      ports: ['out'],
      effect: 'pure',
      defaults: { source: 'return input', input: { $ref: 'input' } },
    },
    run(call) {
      const { args, workspaceId, timeoutS, signal } = call
      const limits = isObject(args.limits) ? args.limits : {}
      const timeMs = numberOr(limits.time_ms)
      const memoryMb = numberOr(limits.memory_mb)
      return sandboxed(
        sandbox.code({
          workspaceId,
          source: String(args.source),
          input: args.input ?? null,
          limits: { ...(timeMs === undefined ? {} : { timeMs }), ...(memoryMb === undefined ? {} : { memoryMb }) },
          waitMs: waitMsOf(timeoutS),
          signal,
        }),
        call,
      )
    },
  })
