import type { NodeKind } from '#engine/node'
import type { Sandbox } from '#platform/sandbox/sandbox'
import { checked, codeText, fields } from './kind.ts'
import { sandboxed, waitMsOf } from './sandboxed.ts'

export const makeTransform = ({ sandbox }: { sandbox: Pick<Sandbox, 'transform'> }): NodeKind =>
  checked({
    descriptor: {
      type: 'transform',
      kind: 'tool',
      group: 'tools',
      title: 'Transform',
      description: 'Reshapes JSON with a JSONata expression: select, filter, group, compute.',
      icon: 'shuffle',
      colour: '#7e22ce',
      keywords: ['jsonata', 'reshape', 'convert', 'json', 'filter', 'query'],
      args_schema: fields(
        {
          expression: codeText('jsonata', { title: 'Expression', minLength: 1, maxLength: 65_536 }),
          input: { title: 'Input', description: 'The value of $ in the expression' },
        },
        ['expression'],
      ),
      output_schema: { description: 'The result of the expression, or null' },
      ports: ['out'],
      effect: 'pure',
      defaults: { expression: '$', input: { $ref: 'input' } },
    },
    run: (call) =>
      sandboxed(
        sandbox.transform({
          workspaceId: call.workspaceId,
          expression: String(call.args.expression),
          input: call.args.input ?? null,
          waitMs: waitMsOf(call.timeoutS),
          signal: call.signal,
        }),
        call,
      ),
  })
