import { editor, member } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import { StateCleared, StateEntry, stateQuery } from './schema.ts'
import { clearState, deleteState, getState, listState } from './service.ts'

export const stateRoutes = (): AnyRoute[] =>
  routes(
    'Workflows',
    {
      listWorkflowState: ['GET', '/api/workflows/:workflow_id/state', member('workflow')],
      getWorkflowState: ['GET', '/api/workflows/:workflow_id/state/:key', member('workflow')],
      deleteWorkflowState: ['DELETE', '/api/workflows/:workflow_id/state/:key', editor('workflow')],
      clearWorkflowState: ['DELETE', '/api/workflows/:workflow_id/state', editor('workflow')],
    },
    {
      listWorkflowState: {
        summary: 'What the runs of a workflow have stored, by key',
        description: 'Runs read and write it with the nodes `state.get` and `state.set`. It is not exported.',
        extension: true,
        query: stateQuery,
        answer: page(StateEntry),
        run: listState,
      },
      getWorkflowState: { summary: 'One stored value', extension: true, answer: StateEntry, run: getState },
      deleteWorkflowState: {
        summary: 'Delete a stored value',
        extension: true,
        status: 204,
        current: getState,
        run: deleteState,
      },
      clearWorkflowState: {
        summary: 'Delete all stored values of a workflow',
        extension: true,
        answer: StateCleared,
        run: clearState,
      },
    },
  )
