import { useState } from 'react'
import type { Template } from '#sdk/types.generated'
import { useAll } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Checkbox, Field, Form, Input, Select, Switch, Textarea, withPresent } from '#web/ui/field.tsx'
import { Card, Section } from '#web/ui/page.tsx'
import { mayRun } from '../workflows/role.ts'

type Values = {
  mode: 'menu' | 'agent'
  name: string
  greeting: string
  locale: string
  instructions: string
  model: string
  voice: string
  primary: string
  position: string
  origins: string
  retention: string
}
export type TemplateBody = {
  name: string
  mode: 'menu' | 'agent'
  knowledge_ids: string[]
  greeting: string | null
  locale: string | null
  instructions: string | null
  workflow_ids: string[]
  model: string | null
  voice: string | null
  theme: Record<string, unknown>
  features: { speech: boolean; transcribe: boolean; names: boolean }
  allowed_origins: string[]
  retention_days: number | null
}

const PRIMARY = '#0f5f5c'

export function TemplateForm({
  template,
  submit,
  onSave,
}: {
  template?: Template
  submit: string
  onSave(body: TemplateBody): Promise<unknown>
}) {
  const { userId } = useRole()
  const workflows = useAll('listWorkflows', { limit: 200, scope: 'workspace' })
  const [chosen, setChosen] = useState(template?.workflow_ids ?? [])
  const bases = useAll('listKnowledge', { limit: 200 })
  const [knowing, setKnowing] = useState(template?.knowledge_ids ?? [])
  const [features, setFeatures] = useState(template?.features ?? { speech: true, transcribe: true, names: false })
  const [ownColour, setOwnColour] = useState(typeof template?.theme.primary === 'string')
  // Only a user who may start a workflow may offer it to visitors; workflows that are already in the template may stay.
  const offered = (workflows.data ?? []).filter(
    (one) => chosen.includes(one.workflow_id) || (one.kind === 'user' && mayRun(one, userId)),
  )
  return (
    <div className="max-w-2xl">
      <Form<Values>
        submit={submit}
        onSubmit={(values) =>
          onSave({
            name: values.name,
            mode: values.mode,
            knowledge_ids: knowing,
            greeting: values.greeting || null,
            locale: values.locale || null,
            instructions: values.instructions || null,
            workflow_ids: chosen,
            model: values.model || null,
            voice: values.voice || null,
            theme: themeOf(template?.theme ?? {}, ownColour ? values.primary : undefined, values.position),
            features,
            allowed_origins: values.origins.split(/[\s,]+/).filter((origin) => origin !== ''),
            retention_days: Number(values.retention) || null,
          })
        }
      >
        <Field name="name" label="Name" hint="Visitors see the name above the chat.">
          <Input required maxLength={200} autoFocus={!template} defaultValue={template?.name ?? ''} />
        </Field>
        <Field name="greeting" label="Greeting">
          <Textarea
            rows={2}
            maxLength={2000}
            defaultValue={template?.greeting ?? ''}
            placeholder="Hello! What can I do for you?"
          />
        </Field>
        <Field
          name="locale"
          label="Language"
          hint="The language of fixed messages when the person's language is unknown."
        >
          <Select
            defaultValue={template?.locale ?? ''}
            options={withPresent(
              [
                { value: '', label: 'English' },
                { value: 'de', label: 'German' },
                { value: 'fr', label: 'French' },
                { value: 'es', label: 'Spanish' },
                { value: 'no', label: 'Norwegian' },
              ],
              template?.locale,
              template?.locale ?? '',
            )}
          />
        </Field>
        <Field
          name="mode"
          label="Mode"
          hint="An agent answers with a language model, searches knowledge and uses the workflows as tools."
        >
          <Select
            defaultValue={template?.mode ?? 'menu'}
            options={[
              { value: 'menu', label: 'Menu of workflows' },
              { value: 'agent', label: 'Agent with a language model' },
            ]}
          />
        </Field>
        <Field
          name="instructions"
          label="Instructions"
          hint="Instructions for the language model: tone, what to offer, what to avoid."
        >
          <Textarea rows={4} maxLength={20_000} defaultValue={template?.instructions ?? ''} />
        </Field>
        <fieldset className="flex flex-col gap-2">
          <legend className="mb-2 text-sm font-medium">Workflows it can start</legend>
          {offered.length === 0 && <p className="text-ink-2">You have no workflows yet.</p>}
          {offered.map(({ workflow_id, name, description }) => (
            <Checkbox
              key={workflow_id}
              checked={chosen.includes(workflow_id)}
              onCheckedChange={(on) =>
                setChosen(on ? [...chosen, workflow_id] : chosen.filter((id) => id !== workflow_id))
              }
              label={
                <>
                  {name} {description && <span className="block text-xs text-ink-2">{description}</span>}
                </>
              }
            />
          ))}
        </fieldset>
        {(bases.data ?? []).length > 0 && (
          <fieldset className="flex flex-col gap-2">
            <legend className="mb-2 text-sm font-medium">Knowledge an agent searches</legend>
            {(bases.data ?? []).map(({ knowledge_id, name }) => (
              <Checkbox
                key={knowledge_id}
                checked={knowing.includes(knowledge_id)}
                onCheckedChange={(on) =>
                  setKnowing(on ? [...knowing, knowledge_id] : knowing.filter((id) => id !== knowledge_id))
                }
                label={name}
              />
            ))}
          </fieldset>
        )}
        <Section title="Appearance and voice" className="mb-0!">
          <Card className="flex flex-col gap-4">
            <div className="grid gap-4 sm:grid-cols-2">
              <div className="flex flex-col gap-2">
                <Switch label="Custom colour" checked={ownColour} onCheckedChange={setOwnColour} />
                <Field name="primary" label="Colour" hideLabel>
                  <Input
                    type="color"
                    disabled={!ownColour}
                    defaultValue={hexOf(template?.theme.primary)}
                    className="h-9 w-20 p-1"
                  />
                </Field>
              </div>
              <Field name="position" label="Button position">
                <Select
                  defaultValue={template?.theme.position === 'left' ? 'left' : 'right'}
                  options={[
                    { value: 'right', label: 'Bottom right' },
                    { value: 'left', label: 'Bottom left' },
                  ]}
                />
              </Field>
            </div>
            <Switch
              label="Read answers aloud"
              checked={features.speech}
              onCheckedChange={(speech) => setFeatures({ ...features, speech })}
            />
            <Switch
              label="Allow voice input"
              checked={features.transcribe}
              onCheckedChange={(transcribe) => setFeatures({ ...features, transcribe })}
            />
            <Switch
              label="Show visitors the names of colleagues who answer"
              checked={features.names}
              onCheckedChange={(names) => setFeatures({ ...features, names })}
            />
            <div className="grid gap-4 sm:grid-cols-2">
              <Field name="voice" label="Voice" hint="Empty: the default voice.">
                <Input maxLength={100} defaultValue={template?.voice ?? ''} />
              </Field>
              <Field name="model" label="Model" hint="Empty: the default model.">
                <Input maxLength={200} defaultValue={template?.model ?? ''} />
              </Field>
            </div>
          </Card>
        </Section>
        <Field
          name="origins"
          label="Allowed sites"
          hint="One address per line: https://shop.example. Empty: only pages of this service."
        >
          <Textarea
            rows={3}
            spellCheck={false}
            className="font-mono text-xs"
            defaultValue={template?.allowed_origins.join('\n') ?? ''}
          />
        </Field>
        <Field
          name="retention"
          label="Conversation retention (days)"
          hint="Counted from the last message. Empty: the retention period of runs."
        >
          <Input type="number" min={1} max={36_500} className="w-32" defaultValue={template?.retention_days ?? ''} />
        </Field>
      </Form>
    </div>
  )
}

const hexOf = (colour: unknown): string =>
  typeof colour === 'string' && /^#[0-9a-f]{6}$/i.test(colour) ? colour : PRIMARY

/** Returns the theme with the new values; its other values stay. */
function themeOf(old: Record<string, unknown>, primary: string | undefined, position: string): Record<string, unknown> {
  const { primary: _, position: __, ...rest } = old
  return { ...rest, ...(primary && { primary, on_primary: inkOn(primary) }), ...(position === 'left' && { position }) }
}

/** Returns black or white, depending on which is more readable on the colour. */
function inkOn(colour: string): string {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? '#000000' : '#ffffff'
}
