import { type Cases, type Cast, rows, withChanges } from './matrix.ts'

/** A company of the author's that the workspace does not reach is seen by its author alone. */
const ownCompany = async ({ author }: Cast) => {
  const { body } = await author.call('POST', '/api/companies', { body: { name: 'Case' } })
  return { params: { company_id: body.company_id as string } }
}
/** The company of the workspace: read by everybody in it, changed by its owner and by owners of its workspaces. */
const sharedCompany = async ({ workspace }: Cast) => ({ params: { company_id: workspace.company.id } })

export const companyCases: Cases = {
  listCompanies: { expect: rows.signedIn },
  createCompany: { expect: rows.selectedWrite, prepare: async () => ({ body: { name: 'Made' } }) },
  getCompany: { expect: withChanges(rows.workspaceRead, { guest: 404 }), prepare: sharedCompany },
  updateCompany: {
    expect: withChanges(rows.workspaceOwnerOnly, { guest: 404 }),
    prepare: async (cast) => ({ ...(await sharedCompany(cast)), body: { name: 'Renamed' } }),
  },
  deleteCompany: { expect: rows.ownOnly, prepare: ownCompany },
}
