import { member, viewer } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import { NewVariable, Variable, variableList } from './schema.ts'
import {
  deleteVariable,
  getVariable,
  listVariables,
  mayDeleteVariable,
  mayPutVariable,
  peekVariable,
  putVariable,
} from './service.ts'

export const variableRoutes = (): AnyRoute[] =>
  routes(
    'Variables',
    {
      listVariables: ['GET', '/api/variables', viewer('workspace')],
      getVariable: ['GET', '/api/variables/:name', viewer('workspace')],
      putVariable: ['PUT', '/api/variables/:name', member('workspace')],
      deleteVariable: ['DELETE', '/api/variables/:name', member('workspace')],
    },
    {
      listVariables: {
        summary: 'The variables of the workspace, by name',
        extension: true,
        query: variableList.query,
        answer: page(Variable),
        run: listVariables,
      },
      getVariable: { summary: 'One variable', extension: true, answer: Variable, run: getVariable },
      putVariable: {
        summary: 'Add a variable or change its value',
        description:
          'Workflows read it as `vars.NAME`; a run keeps the value it started with. Members can change variables that they added, owners of the workspace can change all.',
        extension: true,
        body: NewVariable,
        answer: Variable,
        allowed: mayPutVariable,
        current: peekVariable,
        examples: { body: { value: 'eu-west-1', description: 'Where orders are kept' } },
        run: putVariable,
      },
      deleteVariable: {
        summary: 'Delete a variable',
        description: 'Runs that started before keep its value; in later runs it is absent.',
        extension: true,
        status: 204,
        allowed: mayDeleteVariable,
        current: getVariable,
        run: deleteVariable,
      },
    },
  )
