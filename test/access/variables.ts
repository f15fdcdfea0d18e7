import { type Cases, type Cast, rows, withChanges } from './matrix.ts'

const outside = { stranger: 404, operator: 404 } as const
const reading = withChanges(rows.selectedRead, outside)
/** Members change what they added; owners of the workspace change everything. */
const changing = withChanges(rows.selectedWrite, { ...outside, member: 403, resourceViewer: 403, resourceMember: 403 })

let made = 0
const variable = async ({ author }: Cast) => {
  made += 1
  const name = `CASE_${made}`
  await author.call('PUT', `/api/variables/${name}`, { body: { value: 1 } })
  return { params: { name } }
}

export const variableCases: Cases = {
  listVariables: { expect: rows.selectedRead },
  getVariable: { expect: reading, prepare: variable, plainParameters: ['name'] },
  putVariable: {
    // Strangers add a variable with this name to their own workspace.
    expect: withChanges(changing, { stranger: 'ok', operator: 'ok' }),
    prepare: async (cast) => ({ ...(await variable(cast)), body: { value: 2 } }),
    plainParameters: ['name'],
  },
  deleteVariable: { expect: changing, prepare: variable, plainParameters: ['name'] },
}
