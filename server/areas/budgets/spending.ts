import type { Tx } from '#platform/db/pool'
import { deliverEvent } from '#platform/events'
import { emitEvent } from '#platform/outbox'
import { ModelProblem } from '#providers/llm/problem'
import { scopeText, stateOf } from './service.ts'
import * as store from './store.ts'

// Applies the budgets to model calls. Before a call: checks whether the call could exceed a hard budget. After a call:
// notifies owners if needed. The possible cost of running calls is reserved within this process, so that many parallel
// calls exceed a budget no more than one call does. Calls of other processes count only after they have ended.

const money = (amount: number): string => `$${amount < 0.01 ? amount.toPrecision(1) : amount.toFixed(2)}`

const keyOf = (workspaceId: string, { scope_kind, scope_id, per }: store.BudgetRow): string =>
  `${workspaceId} ${scope_kind} ${scope_id} ${per}`

const scopeName = ({ scope_kind, name }: store.BudgetRow): string =>
  scope_kind === 'workspace' ? 'the workspace' : `the ${scope_kind}${name === null ? '' : ` "${name}"`}`

export class Reservations {
  private held = new Map<string, number>()

  of(key: string): number {
    return this.held.get(key) ?? 0
  }

  add(key: string, amount: number): void {
    const left = this.of(key) + amount
    if (left > 1e-12) this.held.set(key, left)
    else this.held.delete(key)
  }
}

/**
 * Refuses a call that could exceed a hard budget, and reserves its possible cost until the returned function is
 * called. `couldCost` is 0 if the price of the model is unknown; then only a spent budget stops the call.
 */
export async function reserve(
  tx: Tx,
  reservations: Reservations,
  call: { workspaceId: string; spender: store.Spender; executionId: string | null; couldCost(): Promise<number> },
): Promise<() => void> {
  const { workspaceId } = call
  const hard = (await store.budgetsOf(tx, workspaceId, call.spender, call.executionId)).filter(({ hard }) => hard)
  if (hard.length === 0) return () => {}
  const couldCost = await call.couldCost()
  for (const row of hard) {
    const held = reservations.of(keyOf(workspaceId, row))
    if (row.spent + held < row.amount && row.spent + held + couldCost <= row.amount) continue
    throw new ModelProblem(
      'budget_exceeded',
      `The budget of ${scopeName(row)} is ${money(row.amount)} a ${row.per}, and ${money(row.spent)} are spent. ` +
        (row.spent >= row.amount
          ? 'No model is called until the next period starts or the budget is raised.'
          : `This call could cost ${money(couldCost)}${held > 0 ? ` and others under way ${money(held)}` : ''}, so it was not made.`),
    )
  }
  for (const row of hard) reservations.add(keyOf(workspaceId, row), couldCost)
  return () => {
    for (const row of hard) reservations.add(keyOf(workspaceId, row), -couldCost)
  }
}

/**
 * Runs in the transaction that counts a call. Notifies owners once per period about each budget that the call took to
 * 80 % or used up.
 */
export async function notifySpent(
  tx: Tx,
  call: { workspaceId: string; spender: store.Spender; executionId: string | null },
): Promise<void> {
  const { workspaceId } = call
  for (const row of await store.budgetsOf(tx, workspaceId, call.spender, call.executionId)) {
    const state = stateOf(row)
    if (state === 'ok' || !(await store.markNotified(tx, workspaceId, row, state))) continue
    const scope = scopeText(row)
    await emitEvent(tx, {
      workspaceId,
      type: `budget.${state}`,
      data: { scope, name: row.name, limit: row.amount, spent: row.spent, per: row.per, hard: row.hard },
    })
    await deliverEvent(tx, {
      workspaceId,
      kind: `budget.${state}`,
      title:
        state === 'exceeded'
          ? `The budget of ${scopeName(row)} is spent`
          : `80 % of the budget of ${scopeName(row)} is spent`,
      body:
        `${money(row.spent)} of ${money(row.amount)} this ${row.per}.` +
        (state === 'exceeded' && row.hard
          ? ' No model is called until the next period starts or the budget is raised.'
          : ''),
      data: { scope },
      link: '/budgets',
      to: await store.listOwners(tx, workspaceId),
    })
  }
}
