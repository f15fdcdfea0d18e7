import { viewer, workspaceOwner } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { Budgets, NewBudgets } from './schema.ts'
import { listBudgets, putBudgets } from './service.ts'

export const budgetRoutes = (): AnyRoute[] =>
  routes(
    'Budgets',
    {
      listBudgets: ['GET', '/api/budgets', viewer('workspace')],
      putBudgets: ['PUT', '/api/budgets', workspaceOwner],
    },
    {
      listBudgets: {
        summary: 'The budgets for language models, and what is spent',
        description:
          'Owners of the workspace see all budgets; others those of the workspace, of themselves and of workflows that they may see.',
        answer: Budgets,
        extension: true,
        run: listBudgets,
      },
      putBudgets: {
        summary: 'Set the budgets of the workspace',
        description:
          'A soft budget notifies owners at 80 % and when it is spent: a notification and the events `budget.warning` and `budget.exceeded`, once each ' +
          'in a day or month. A hard budget also stops models: a call that could exceed it fails with `budget_exceeded`.',
        body: NewBudgets,
        answer: Budgets,
        extension: true,
        current: listBudgets,
        examples: { body: { budgets: [{ scope: 'workspace', limit: 100, per: 'month', hard: true }] } },
        run: putBudgets,
      },
    },
  )
