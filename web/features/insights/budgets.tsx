import { PiggyBank, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Budget } from '#sdk/types.generated'
import { useApi, useChange } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Badge } from '#web/ui/badge.tsx'
import { Button, IconButton } from '#web/ui/button.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Checkbox, Field, Form, Input, Select } from '#web/ui/field.tsx'
import { Page } from '#web/ui/page.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { t } from '#web/words/language.ts'
import { dollars } from './words.ts'

const plain = ({ scope, limit, per, hard }: Budget) => ({ scope, limit, per, hard })
const same = (a: Pick<Budget, 'scope' | 'per'>, b: Pick<Budget, 'scope' | 'per'>): boolean =>
  a.scope === b.scope && a.per === b.per

const stateWords = { ok: t('within'), warning: t('nearly spent'), exceeded: t('spent') } as const
const stateTones = { ok: 'success', warning: 'waiting', exceeded: 'danger' } as const

export function BudgetsPage() {
  const { isOwner } = useRole()
  const [adding, setAdding] = useState(false)
  const list = useApi('listBudgets', {})
  const save = useChange('putBudgets', { stale: ['listBudgets'], done: 'Saved', onDone: () => setAdding(false) })
  const present = list.data?.budgets ?? []
  const make = isOwner && (
    <Button look="primary" icon={Plus} onClick={() => setAdding(true)}>
      New budget
    </Button>
  )
  return (
    <Page
      title="Budgets"
      description="Limits for spending on language models per day or month, in US dollars and UTC. Owners are notified at 80 % and when it is spent."
      actions={make}
    >
      <Loaded of={list} what="the budgets">
        {({ budgets }) => (
          <Table
            label="Budgets"
            rows={budgets}
            rowKey={(row) => `${row.scope} ${row.per}`}
            empty={
              <Empty icon={PiggyBank} title="No budgets yet" action={make}>
                Without a budget, spending on models has no limit.
              </Empty>
            }
            columns={[
              { header: 'For', cell: (row) => (row.scope === 'workspace' ? 'The workspace' : (row.name ?? row.scope)) },
              { header: 'Spent', cell: (row) => `${dollars(row.spent)} of ${dollars(row.limit)} a ${t(row.per)}` },
              {
                header: 'State',
                cell: (row) => <Badge tone={stateTones[row.state]}>{stateWords[row.state]}</Badge>,
                width: '8rem',
                secondary: true,
              },
              {
                header: 'When spent',
                cell: (row) => (row.hard ? t('models stop') : t('owners are notified')),
                width: '10rem',
                secondary: true,
              },
              {
                header: <span className="sr-only">Actions</span>,
                cell: (row) =>
                  isOwner && (
                    <IconButton
                      icon={Trash2}
                      size="small"
                      label={`Delete the budget of ${row.name ?? row.scope}`}
                      onClick={() => save.mutate({ budgets: present.filter((other) => !same(other, row)).map(plain) })}
                    />
                  ),
                width: '4rem',
                align: 'right',
              },
            ]}
          />
        )}
      </Loaded>
      {adding && (
        <BudgetDialog
          onClose={() => setAdding(false)}
          onSave={(budget) =>
            save.mutateAsync({ budgets: [...present.filter((other) => !same(other, budget)).map(plain), budget] })
          }
        />
      )}
    </Page>
  )
}

type NewBudget = ReturnType<typeof plain>

function BudgetDialog({ onClose, onSave }: { onClose(): void; onSave(budget: NewBudget): Promise<unknown> }) {
  const workflows = useApi('listWorkflows', { limit: 100 })
  const [hard, setHard] = useState(false)
  const scopes = [
    { value: 'workspace', label: 'The workspace' },
    ...(workflows.data?.items ?? []).map(({ workflow_id, name }) => ({ value: workflow_id, label: name })),
  ]
  return (
    <Dialog open onClose={onClose} title="New budget" description="A budget of the same scope and period is replaced.">
      <Form<{ scope: string; limit: string; per: 'day' | 'month' }>
        submit="Save"
        onCancel={onClose}
        onSubmit={({ scope, limit, per }) => onSave({ scope, limit: Number(limit), per, hard })}
      >
        <Field name="scope" label="For">
          <Select options={scopes} defaultValue="workspace" />
        </Field>
        <Field name="limit" label="US dollars">
          <Input required type="number" min={0} step="any" defaultValue="50" />
        </Field>
        <Field name="per" label="Period">
          <Select
            options={[
              { value: 'month', label: 'A month' },
              { value: 'day', label: 'A day' },
            ]}
            defaultValue="month"
          />
        </Field>
        <Checkbox
          checked={hard}
          onCheckedChange={(checked) => setHard(checked === true)}
          label="Stop models before it is passed"
        />
      </Form>
    </Dialog>
  )
}
