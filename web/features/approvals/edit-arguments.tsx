import { useLocation, useNavigate } from '@tanstack/react-router'
import { isObject } from '#model/json'
import type { Approval } from '#sdk/types.generated'
import { useApi, useChange } from '#web/api.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import { SchemaForm } from '#web/ui/schema-form.tsx'
import { Loaded } from '#web/ui/states.tsx'

type Props = { gate: Approval; comment: string; onClose(): void }

/** Changes the arguments of the call that a gate is about. The new arguments need a new vote, in another gate. */
export function EditArguments({ gate, comment, onClose }: Props) {
  // Lists do not contain the schema of the arguments.
  const read = useApi('getApproval', { request_id: gate.request_id })
  const navigate = useNavigate()
  const isInInbox = useLocation().pathname.startsWith('/approvals')
  const edit = useChange('editArguments', {
    stale: ['listInbox', 'getApproval', 'listExecutionApprovals', 'getExecution'],
    done: 'The edited arguments are up for a vote',
    failed: 'Could not edit the arguments',
  })
  const send = async (value: unknown): Promise<void> => {
    const next = await edit.mutateAsync({
      request_id: gate.request_id,
      arguments: value as Record<string, unknown>,
      payload_sha256: gate.payload_sha256,
      ...(comment && { comment }),
    })
    onClose()
    if (isInInbox) await navigate({ to: `/approvals/${next.request_id}` })
  }
  return (
    <Dialog
      open
      onClose={onClose}
      size="medium"
      title="Edit arguments"
      description="The agent calls the tool with exactly these arguments once they are approved. Votes so far do not count for them."
    >
      <Loaded of={read} what="the arguments">
        {(now) => (
          <SchemaForm
            schema={now.arguments_schema ?? {}}
            value={chosenIn(now)}
            submit="Ask for approval"
            onSubmit={send}
            json
          />
        )}
      </Loaded>
    </Dialog>
  )
}

/** Returns the arguments in the form. Fixed arguments are neither in the schema nor in the form. */
function chosenIn({ payload, arguments_schema: schema }: Approval): unknown {
  const whole = isObject(payload) && isObject(payload.arguments) ? payload.arguments : {}
  if (!isObject(schema) || schema.additionalProperties !== false) return whole
  const named = isObject(schema.properties) ? schema.properties : {}
  return Object.fromEntries(Object.entries(whole).filter(([name]) => Object.hasOwn(named, name)))
}
