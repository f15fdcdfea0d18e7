import { z } from 'zod'
import { timestamp } from '#platform/http/schema'

export const MAX_BUDGETS = 200
export const periods = ['day', 'month'] as const
export type Period = (typeof periods)[number]
export type ScopeKind = 'workspace' | 'workflow' | 'person' | 'credential'

const scope = z
  .string()
  .min(1)
  .max(100)
  .describe('`workspace`, or the id of a workflow, a person or a credential whose use of models is counted')

const budget = {
  scope,
  limit: z.number().min(0).max(1_000_000_000).describe('In US dollars'),
  per: z.enum(periods).describe('A calendar day or month, in UTC'),
  hard: z
    .boolean()
    .describe(
      'Calls of models that could exceed the budget fail with `budget_exceeded`. Otherwise owners are only notified',
    ),
}

export const NewBudgets = z
  .strictObject({
    budgets: z
      .array(z.strictObject({ ...budget, hard: budget.hard.default(false) }))
      .max(MAX_BUDGETS)
      .refine(
        (all) => new Set(all.map(({ scope, per }) => `${scope} ${per}`)).size === all.length,
        'has two budgets of the same scope and period',
      )
      .describe('Replaces all budgets'),
  })
  .meta({ id: 'NewBudgets' })
export type NewBudgets = z.output<typeof NewBudgets>

export const Budget = z
  .object({
    ...budget,
    name: z.string().nullable().describe('The name of the workflow, person or credential, if it still exists'),
    spent: z.number().describe('In this day or month, in US dollars'),
    state: z.enum(['ok', 'warning', 'exceeded']).describe('`warning`: 80 % are spent'),
    resets_at: timestamp().describe('When the next day or month begins'),
  })
  .meta({ id: 'Budget' })
export type Budget = z.input<typeof Budget>

export const Budgets = z
  .object({ budgets: z.array(Budget).describe('The budgets that the caller may see') })
  .meta({ id: 'Budgets' })
export type Budgets = z.input<typeof Budgets>
