import { maySee } from '#areas/workflows/rights'
import { recordAudit } from '#platform/audit'
import { unknownReference } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { fromWire, type Prefix, toWire } from '#platform/ids'
import type { Budget, Budgets, NewBudgets, ScopeKind } from './schema.ts'
import * as store from './store.ts'

const prefixOf: Record<Exclude<ScopeKind, 'workspace'>, Prefix> = {
  workflow: 'wf',
  person: 'usr',
  credential: 'cred',
}

/** The share of a budget at which owners are warned. */
const WARN_AT = 0.8

export const scopeText = ({ scope_kind, scope_id }: Pick<store.BudgetRow, 'scope_kind' | 'scope_id'>): string =>
  scope_kind === 'workspace' || scope_id === null ? 'workspace' : toWire(prefixOf[scope_kind], scope_id)

export const stateOf = ({ spent, amount }: Pick<store.BudgetRow, 'spent' | 'amount'>): Budget['state'] => {
  if (spent >= amount) return 'exceeded'
  return spent >= amount * WARN_AT ? 'warning' : 'ok'
}

const shown = (row: store.BudgetRow): Budget => ({
  scope: scopeText(row),
  limit: row.amount,
  per: row.per,
  hard: row.hard,
  name: row.name,
  spent: row.spent,
  state: stateOf(row),
  resets_at: row.resets_at,
})

/** Only the person and the owners may see what a person spends. */
async function maySeeBudget(ctx: Context, { scope_kind, scope_id }: store.BudgetRow): Promise<boolean> {
  if (ctx.workspace.role === 'owner' || scope_kind === 'workspace') return true
  if (scope_kind === 'person') return scope_id === ctx.person.user_id
  return scope_kind === 'workflow' && maySee(ctx.tx, ctx.workspace.workspace_id, scope_id!, ctx.person.user_id)
}

export async function listBudgets(ctx: Context): Promise<Budgets> {
  const budgets: Budget[] = []
  for (const row of await store.listBudgets(ctx.tx, ctx.workspace.workspace_id))
    if (await maySeeBudget(ctx, row)) budgets.push(shown(row))
  return { budgets }
}

function scopeOf(text: string): { scope_kind: ScopeKind; scope_id: string | null } | undefined {
  if (text === 'workspace') return { scope_kind: 'workspace', scope_id: null }
  for (const [kind, prefix] of Object.entries(prefixOf)) {
    const uuid = fromWire(prefix, text)
    if (uuid !== undefined) return { scope_kind: kind as ScopeKind, scope_id: uuid }
  }
  return undefined
}

export async function putBudgets(ctx: Context, { budgets }: NewBudgets): Promise<Budgets> {
  const { workspace_id } = ctx.workspace
  const wanted: store.NewBudget[] = []
  const unknown: string[] = []
  for (const [at, { scope, limit, per, hard }] of budgets.entries()) {
    const found = scopeOf(scope)
    const isThere =
      found &&
      (found.scope_id === null || (await store.hasScope(ctx.tx, workspace_id, found.scope_kind, found.scope_id)))
    if (isThere) wanted.push({ ...found, per, amount: limit, hard })
    else unknown.push(`/budgets/${at}/scope`)
  }
  if (unknown.length > 0) throw unknownReference(...unknown)
  await store.replaceBudgets(ctx.tx, workspace_id, wanted)
  await recordAudit(ctx, ctx.tx, { action: 'budgets.set', data: { budgets: wanted.length } })
  return listBudgets(ctx)
}
