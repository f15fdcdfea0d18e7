import { useParams } from '@tanstack/react-router'
import type { WebhookToken, Workflow } from '#sdk/types.generated'
import { useApi, useChange } from '#web/api.ts'
import { Field, Form, Input, Select } from '#web/ui/field.tsx'
import { Section } from '#web/ui/page.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { t } from '#web/words/language.ts'
import type { WorkflowRole } from './role.ts'
import { About, Deliveries } from './webhook-parts.tsx'
import { WorkflowPage } from './workflow-page.tsx'

/** One webhook token: its address, a sample call, its response settings, and the last requests. */
export const WebhookTokenPage = () => (
  <WorkflowPage section="Webhook token">{(workflow, role) => <Token workflow={workflow} role={role} />}</WorkflowPage>
)

function Token({ workflow, role }: { workflow: Workflow; role: WorkflowRole }) {
  const { token_id } = useParams({ strict: false }) as { token_id: string }
  const token = useApi('getWebhookToken', { workflow_id: workflow.workflow_id, token_id })
  return (
    <Loaded of={token} what="the token">
      {(found) => (
        <>
          <About workflow={workflow} token={found} />
          {role === 'owner' && found.auth.kind !== 'bearer' && <Options token={found} />}
          <Deliveries token={found} />
        </>
      )}
    </Loaded>
  )
}

type OptionValues = { input: string; respond: string; challenge: string; dedupe: string; secret: string }

function Options({ token }: { token: WebhookToken }) {
  const change = useChange('updateWebhookToken', { stale: ['getWebhookToken', 'listWebhookTokens'], done: 'Saved' })
  const { workflow_id, token_id, dedupe } = token
  const save = ({ input, respond, challenge, dedupe: header, secret }: OptionValues) =>
    change.mutateAsync({
      workflow_id,
      token_id,
      input: input as WebhookToken['input'],
      respond: respond as WebhookToken['respond'],
      challenge: (challenge || null) as WebhookToken['challenge'],
      ...(typeof dedupe?.from !== 'object' && { dedupe: header ? { from: header } : null }),
      ...(secret && { secret }),
    })
  const options = (...pairs: [value: string, label: string][]) => pairs.map(([value, label]) => ({ value, label }))
  return (
    <Section title="How it works" description="The input of the workflow and the response to the caller.">
      <Form<OptionValues> submit="Save" onSubmit={save} className="max-w-xl">
        <Field name="input" label="Input of the workflow">
          <Select
            defaultValue={token.input}
            options={options(['body', 'The body'], ['request', 'The whole request, without credentials'])}
          />
        </Field>
        <Field name="respond" label="Response to the caller">
          <Select
            defaultValue={token.respond}
            options={options(
              ['accepted', 'Immediately, with the id of the run'],
              ['result', 'With the results, once the run has ended'],
              ['node', 'With the response of an “Answer the caller” step'],
            )}
          />
        </Field>
        <Field name="challenge" label="Answer verification requests from">
          <Select
            defaultValue={token.challenge ?? ''}
            options={options(
              ['', t('Nobody')],
              ['slack', 'Slack'],
              ['meta', 'Meta'],
              ['microsoft', 'Microsoft'],
              ['dropbox', 'Dropbox'],
            )}
          />
        </Field>
        {typeof dedupe?.from !== 'object' && (
          <Field
            name="dedupe"
            label="Header with the id of a delivery"
            hint="The same id again within a day starts nothing."
          >
            <Input defaultValue={dedupe?.from ?? ''} placeholder="X-GitHub-Delivery" />
          </Field>
        )}
        {(token.auth.kind === 'basic' || token.auth.kind === 'hmac') && (
          <Field name="secret" label="New secret" hint="Empty: the stored one stays.">
            <Input type="password" autoComplete="off" />
          </Field>
        )}
      </Form>
    </Section>
  )
}
