import { Link } from '@tanstack/react-router'
import { Radio } from 'lucide-react'
import { useState } from 'react'
import type { WebhookDelivery, WebhookToken, Workflow } from '#sdk/types.generated'
import { useList } from '#web/api.ts'
import { Badge } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { CopyField } from '#web/ui/copy-field.tsx'
import { Facts, Section } from '#web/ui/page.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { t } from '#web/words/language.ts'
import { useWorkflowInputs } from './use-workflow-inputs.ts'
import { authMethodLabel } from './webhook-auth.ts'
import { sampleCall } from './webhook-sample.ts'

export function About({ workflow, token }: { workflow: Workflow; token: WebhookToken }) {
  const inputs = useWorkflowInputs(workflow.workflow_id)
  const needsSecret = token.auth.kind === 'basic' || token.auth.kind === 'hmac'
  return (
    <Section title={token.name ?? 'Webhook token'} description={authMethodLabel(token.auth)}>
      <div className="flex flex-col gap-4">
        <Facts
          facts={[
            ['Enabled', token.enabled ? 'yes' : 'no'],
            ['Methods', token.methods.join(', ')],
            ['Last used', <RelativeTime key="used" at={token.last_used_at} />],
            ...(needsSecret
              ? ([['Secret', token.secret_set ? t('stored') : t('missing: every call is refused')]] satisfies [
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

const LISTEN_EVERY = 2_000

export function Deliveries({ token: { workflow_id, token_id, auth } }: { token: WebhookToken }) {
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
          ? 'Refused calls with the reason. The calls that started a run are listed under Runs.'
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
              { header: 'When', width: '8rem', cell: (row) => <RelativeTime at={row.received_at} /> },
              {
                header: 'Response',
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
                    (row.reason ?? 'A verification request was answered')
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
