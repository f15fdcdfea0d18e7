import { type Cases, type Cast, rows, withChanges } from './matrix.ts'

/** A company of the author that no workspace uses. Only the author sees it. */
const ownCompany = async ({ author }: Cast) => {
  const { body } = await author.call('POST', '/api/companies', { body: { name: 'Case' } })
  return { params: { company_id: body.company_id as string } }
}
/** The company of the workspace: everyone there reads it; its owner and the owners of its workspaces change it. */
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
