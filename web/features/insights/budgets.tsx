import { Pencil, PiggyBank, Plus } from 'lucide-react'
import { useState } from 'react'
import type { Budget } from '#sdk/types.generated'
import { useAll, useApi, useChange } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Badge } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Checkbox, Field, Form, Input, Select } from '#web/ui/field.tsx'
import { MenuItem } from '#web/ui/menu.tsx'
import { Page } from '#web/ui/page.tsx'
import { menuColumn, RowMenu } from '#web/ui/row-menu.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { t } from '#web/words/language.ts'
import { dollars } from './words.ts'

const plain = ({ scope, limit, per, hard }: Budget) => ({ scope, limit, per, hard })
const same = (a: Pick<Budget, 'scope' | 'per'>, b: Pick<Budget, 'scope' | 'per'>): boolean =>
  a.scope === b.scope && a.per === b.per

const nameOf = ({ scope, name }: Budget): string => (scope === 'workspace' ? t('The workspace') : (name ?? scope))

const stateWords = { ok: t('within'), warning: t('nearly spent'), exceeded: t('spent') } as const
const stateTones = { ok: 'success', warning: 'waiting', exceeded: 'danger' } as const

export function BudgetsPage() {
  const { isOwner } = useRole()
  const [editing, setEditing] = useState<Budget | 'new' | null>(null)
  const close = (): void => setEditing(null)
  const list = useApi('listBudgets', {})
  const save = useChange('putBudgets', { stale: ['listBudgets'], done: 'Saved', onDone: close })
  const present = list.data?.budgets ?? []
  const make = isOwner && (
    <Button look="primary" icon={Plus} onClick={() => setEditing('new')}>
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
              { header: 'For', cell: (row) => nameOf(row) },
              {
                header: 'Spent',
                cell: (row) => (
                  <span className="whitespace-normal">{`${dollars(row.spent)} of ${dollars(row.limit)} a ${t(row.per)}`}</span>
                ),
              },
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
                ...menuColumn,
                cell: (row) =>
                  isOwner && (
                    <RowMenu
                      name={nameOf(row)}
                      removal={{
                        title: 'Delete this budget?',
                        consequence: 'The budget no longer limits the cost of models. Past costs are still counted.',
                        action: 'Delete budget',
                        onConfirm: () =>
                          save.mutateAsync({ budgets: present.filter((other) => !same(other, row)).map(plain) }),
                      }}
                    >
                      <MenuItem icon={Pencil} onSelect={() => setEditing(row)}>
                        Change…
                      </MenuItem>
                    </RowMenu>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
      {editing !== null && (
        <BudgetDialog
          budget={editing === 'new' ? undefined : editing}
          onClose={close}
          onSave={(budget) =>
            save.mutateAsync({ budgets: [...present.filter((other) => !same(other, budget)).map(plain), budget] })
          }
        />
      )}
    </Page>
  )
}

type NewBudget = ReturnType<typeof plain>

function BudgetDialog({
  budget,
  onClose,
  onSave,
}: {
  /** Absent for a new budget. The scope and period of an existing budget cannot change. */
  budget: Budget | undefined
  onClose(): void
  onSave(budget: NewBudget): Promise<unknown>
}) {
  const workflows = useAll('listWorkflows', { limit: 200 })
  const [hard, setHard] = useState(budget?.hard ?? false)
  const scopes = [
    { value: 'workspace', label: 'The workspace' },
    ...(workflows.data ?? []).map(({ workflow_id, name }) => ({ value: workflow_id, label: name })),
  ]
  return (
    <Dialog
      open
      onClose={onClose}
      title={budget ? `Budget of ${nameOf(budget)}` : 'New budget'}
      description={budget ? undefined : 'A budget of the same scope and period is replaced.'}
    >
      <Form<{ scope: string; limit: string; per: 'day' | 'month' }>
        submit="Save"
        onCancel={onClose}
        onSubmit={({ scope, limit, per }) =>
          onSave({ scope: budget?.scope ?? scope, limit: Number(limit), per: budget?.per ?? per, hard })
        }
      >
        {budget === undefined && (
          <Field name="scope" label="For">
            <Select options={scopes} defaultValue="workspace" />
          </Field>
        )}
        <Field
          name="limit"
          label={budget ? (budget.per === 'day' ? 'US dollars a day' : 'US dollars a month') : 'US dollars'}
        >
          <Input required type="number" min={0} step="any" defaultValue={budget?.limit ?? 50} />
        </Field>
        {budget === undefined && (
          <Field name="per" label="Period">
            <Select
              options={[
                { value: 'month', label: 'A month' },
                { value: 'day', label: 'A day' },
              ]}
              defaultValue="month"
            />
          </Field>
        )}
        <Checkbox
          checked={hard}
          onCheckedChange={(checked) => setHard(checked === true)}
          label="Stop models before it is passed"
        />
      </Form>
    </Dialog>
  )
}
