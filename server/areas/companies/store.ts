import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import { type Company, companyList, type ListedCompany } from './schema.ts'

const columns = 'company_id, name, owner_id, metadata, created_at, updated_at'
/** The estimated size of a row in bytes, with 300 for ids and times. Cheaper than the text of the whole row. */
const bytes = '300 + octet_length(page.name) + octet_length(page.metadata::text)'

/** Finds a company. Row security limits the result to companies that the caller owns or reaches through a workspace. */
export const findCompany = (tx: Tx, companyId: string): Promise<Company | undefined> =>
  tx.maybe<Company>(`select ${columns} from companies where company_id = $1`, [companyId])

export const listOwnCompanies = (tx: Tx, userId: string, asked: ListInput) =>
  readList<Company>(tx, companyList, asked, {
    sql: `select ${columns} from companies
      where company_id in (
        select company_id from companies where owner_id = $1
        union select w.company_id from memberships m join workspaces w using (workspace_id) where m.user_id = $1 and m.role <> 'guest')`,
    values: [userId],
    size: bytes,
  })

export const listAllCompanies = (tx: Tx, asked: ListInput) =>
  readList<ListedCompany>(tx, companyList, asked, {
    sql: `select ${columns}, (select u.name from users u where u.user_id = c.owner_id) as owner_name from companies c`,
    values: [],
    size: bytes,
  })

/**
 * Returns whether the caller owns the company or one of its workspaces. Undefined if the caller cannot see the
 * company.
 */
export const findCompanyRights = (tx: Tx, companyId: string, userId: string): Promise<{ owns: boolean } | undefined> =>
  tx.maybe<{ owns: boolean }>(
    `select c.owner_id = $2 or exists (
       select from workspaces w join memberships m using (workspace_id)
       where w.company_id = c.company_id and m.user_id = $2 and m.role = 'owner') as owns
     from companies c where c.company_id = $1`,
    [companyId, userId],
  )

export const insertCompany = (
  tx: Tx,
  company: { company_id: string; org_id: string; owner_id: string; name: string; metadata: Record<string, unknown> },
): Promise<Company> =>
  tx.row<Company>(
    `insert into companies (company_id, org_id, owner_id, name, metadata) values ($1, $2, $3, $4, $5) returning ${columns}`,
    [company.company_id, company.org_id, company.owner_id, company.name, company.metadata],
  )

export const updateCompany = (
  tx: Tx,
  companyId: string,
  patch: { name?: string; metadata?: Record<string, unknown> | null },
): Promise<Company> =>
  tx.row<Company>(
    `update companies set name = coalesce($2, name), metadata = case when $3::boolean then coalesce($4::jsonb, '{}') else metadata end, updated_at = now()
     where company_id = $1 returning ${columns}`,
    [companyId, patch.name ?? null, patch.metadata !== undefined, patch.metadata ?? null],
  )

export const reassignCompany = (
  tx: Tx,
  workspaceId: string,
  fromUserId: string,
  byUserId: string,
): Promise<Pick<Company, 'company_id' | 'name' | 'owner_id'> | undefined> =>
  tx.maybe('select * from pass_company_on($1, $2, $3)', [workspaceId, fromUserId, byUserId])

export const deleteCompany = (tx: Tx, companyId: string): Promise<number> =>
  tx.count('delete from companies where company_id = $1', [companyId])
