import { Plus, X } from 'lucide-react'
import { useState } from 'react'
import type { Workflow } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { Button, IconButton } from '#web/ui/button.tsx'
import { Field, Form, Input } from '#web/ui/field.tsx'
import { Card, Section } from '#web/ui/page.tsx'

const MAX_NAMES = 20

/** The names of events that start the workflow. */
export function OnEvent({ workflow }: { workflow: Workflow }) {
  const update = useChange('updateWorkflow', { stale: ['getWorkflow', 'listWorkflows'], done: 'Saved' })
  const [names, setNames] = useState<string[]>(workflow.settings.on_event ?? [])
  const change = (at: number, name: string): void => setNames(names.map((old, index) => (index === at ? name : old)))
  return (
    <Section
      title="Start by event"
      description="Starts when a program sends an event with one of these names to POST /api/events. Its data is the input."
    >
      <Card className="max-w-xl">
        <Form
          submit="Save"
          onSubmit={() => {
            const on_event = [...new Set(names.map((name) => name.trim()).filter((name) => name !== ''))]
            return update.mutateAsync({
              workflow_id: workflow.workflow_id,
              settings: { on_event: on_event.length === 0 ? null : on_event },
            })
          }}
        >
          {names.map((name, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the place is what identifies a line that is being typed
            <div key={at} className="flex items-end gap-2">
              <Field label={`Event ${at + 1}`} className="flex-1">
                <Input
                  value={name}
                  maxLength={200}
                  placeholder="order.paid"
                  onChange={(event) => change(at, event.target.value)}
                />
              </Field>
              <IconButton
                icon={X}
                label={`Remove event ${at + 1}`}
                onClick={() => setNames(names.filter((_, index) => index !== at))}
              />
            </div>
          ))}
          {names.length < MAX_NAMES && (
            <div>
              <Button type="button" icon={Plus} onClick={() => setNames([...names, ''])}>
                Add event
              </Button>
            </div>
          )}
        </Form>
      </Card>
    </Section>
  )
}
