import { Link, useParams } from '@tanstack/react-router'
import { Radio } from 'lucide-react'
import { useState } from 'react'
import type { WebhookDelivery, WebhookToken, Workflow } from '#sdk/types.generated'
import { useApi, useChange, useList } from '#web/api.ts'
import { Badge } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { CopyField } from '#web/ui/copy-field.tsx'
import { Field, Form, Input, Select } from '#web/ui/field.tsx'
import { Facts, Section } from '#web/ui/page.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import type { WorkflowRole } from './role.ts'
import { proofOf } from './webhook-proofs.ts'
import { sampleCall } from './webhook-sample.ts'
import { WorkflowPage } from './workflow-page.tsx'

/** One webhook token: its address, a call to try, how it answers, and what came last. */
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

function About({ workflow, token }: { workflow: Workflow; token: WebhookToken }) {
  const version_id = workflow.active_version_id
  const version = useApi(
    'getVersion',
    { workflow_id: workflow.workflow_id, version_id: version_id ?? '' },
    { enabled: version_id !== null },
  )
  const inputs = (version.data?.definition as { inputs?: unknown } | undefined)?.inputs
  const needsSecret = token.auth.kind === 'basic' || token.auth.kind === 'hmac'
  return (
    <Section title={token.name ?? 'Webhook token'} description={proofOf(token.auth)}>
      <div className="flex flex-col gap-4">
        <Facts
          facts={[
            ['Enabled', token.enabled ? 'yes' : 'no'],
            ['Methods', token.methods.join(', ')],
            ['Last used', <RelativeTime key="used" at={token.last_used_at} />],
            ...(needsSecret
              ? ([['Secret', token.secret_set ? 'stored' : 'missing: every call is refused']] satisfies [
                  string,
                  string,
                ][])
              : []),
          ]}
        />
        <CopyField label="Address" text={token.url ?? 'Shown once, when the token was created'} />
        <CopyField label="Sample call" text={sampleCall(token, inputs)} />
      </div>
    </Section>
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
    <Section title="How it works" description="What the workflow gets, and what the caller is answered.">
      <Form<OptionValues> submit="Save" onSubmit={save} className="max-w-xl">
        <Field name="input" label="The workflow gets">
          <Select
            defaultValue={token.input}
            options={options(['body', 'The body'], ['request', 'The whole request, without credentials'])}
          />
        </Field>
        <Field name="respond" label="The caller is answered">
          <Select
            defaultValue={token.respond}
            options={options(
              ['accepted', 'At once, with the id of the run'],
              ['result', 'With the results, once the run has ended'],
              ['node', 'With what an “Answer the caller” step says'],
            )}
          />
        </Field>
        <Field name="challenge" label="Questions about the address are answered for">
          <Select
            defaultValue={token.challenge ?? ''}
            options={options(
              ['', 'Nobody'],
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

const LISTEN_EVERY = 2_000

function Deliveries({ token: { workflow_id, token_id, auth } }: { token: WebhookToken }) {
  const [listening, setListening] = useState(false)
  const deliveries = useList(
    'listWebhookDeliveries',
    { workflow_id, token_id },
    listening ? { refetchInterval: LISTEN_EVERY } : {},
  )
  return (
    <Section
      title="Last deliveries"
      description={
        auth.kind === 'bearer'
          ? 'Calls that were refused, and why. What the token started is among the runs.'
          : 'The newest fifty calls, and why any was refused.'
      }
      actions={
        <Button size="small" icon={Radio} onClick={() => setListening(!listening)}>
          {listening ? 'Stop listening' : 'Listen for a test call'}
        </Button>
      }
    >
      {listening && (
        <p role="status" className="mb-3 text-sm text-ink-2">
          Listening. Calls appear here within a few seconds.
        </p>
      )}
      <Loaded of={deliveries} what="the deliveries">
        {(rows) => (
          <Table<WebhookDelivery>
            label="Last deliveries"
            rows={rows}
            rowKey={({ delivery_id }) => delivery_id}
            empty={<Empty title="Nothing yet">Make a call to the address; it appears here.</Empty>}
            columns={[
              { header: 'When', width: '9rem', cell: (row) => <RelativeTime at={row.received_at} /> },
              {
                header: 'Answer',
                width: '6rem',
                cell: (row) => <Badge tone={row.code === null ? 'success' : 'danger'}>{row.status}</Badge>,
              },
              {
                header: 'What happened',
                cell: (row) =>
                  row.execution_id ? (
                    <Link to={`/runs/${row.execution_id}` as string} className="text-accent-strong underline">
                      A run was started
                    </Link>
                  ) : (
                    (row.reason ?? 'A question about the address was answered')
                  ),
              },
              { header: 'Method', width: '6rem', secondary: true, cell: (row) => row.method },
              { header: 'Bytes', width: '6rem', secondary: true, cell: (row) => row.bytes },
            ]}
          />
        )}
      </Loaded>
    </Section>
  )
}
