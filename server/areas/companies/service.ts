import type { z } from 'zod'
import type { OnMemberRemoved } from '#areas/workspaces/member-removal'
import type { FindAccessLevel } from '#platform/access/check'
import { recordAudit } from '#platform/audit'
import { requireUnbound } from '#platform/auth/scope'
import { isForeignKeyViolation } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { deliverEvent } from '#platform/events'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { newId, toWire } from '#platform/ids'
import { listAsOperator } from '#platform/operator'
import type { Company, CompanyPatch, NewCompany } from './schema.ts'
import * as store from './store.ts'

type ById = { company_id: string }

export const accessLevelInCompany: FindAccessLevel = async (ctx, companyId) => {
  const rights = await store.findCompanyRights(ctx.tx, companyId, ctx.person.user_id)
  return rights && (rights.owns ? 'owner' : 'viewer')
}

const audit = (ctx: Context, action: string, { company_id, name }: Pick<Company, 'company_id' | 'name'>) =>
  recordAudit(ctx, ctx.tx, { action, subject: toWire('co', company_id), workspaceId: null, data: { name } })

export const getCompany = async (ctx: Context, { company_id }: ById): Promise<Company> => {
  const company = await store.findCompany(ctx.tx, company_id)
  if (!company) throw problem('not_found')
  return company
}

export const listCompanies = (ctx: Context, asked: ListInput) =>
  ctx.person.operator
    ? listAsOperator(ctx, 'companies', (tx) => store.listAllCompanies(tx, asked))
    : store.listOwnCompanies(ctx.tx, ctx.person.user_id, asked)

export async function createCompany(ctx: Context, input: z.output<typeof NewCompany>): Promise<Company> {
  requireUnbound(ctx)
  const company = await store.insertCompany(ctx.tx, {
    company_id: newId(),
    org_id: ctx.person.org_id,
    owner_id: ctx.person.user_id,
    name: input.name,
    metadata: input.metadata ?? {},
  })
  await audit(ctx, 'company.created', company)
  return company
}

export async function updateCompany(
  ctx: Context,
  { company_id, ...patch }: ById & z.output<typeof CompanyPatch>,
): Promise<Company> {
  const company = await store.updateCompany(ctx.tx, company_id, patch)
  await audit(ctx, 'company.updated', company)
  return company
}

export async function deleteCompany(ctx: Context, { company_id }: ById): Promise<void> {
  const company = await getCompany(ctx, { company_id })
  await audit(ctx, 'company.deleted', company)
  try {
    await store.deleteCompany(ctx.tx, company_id)
  } catch (error) {
    if (isForeignKeyViolation(error)) throw problem('not_empty', 'Delete the workspaces of the company first.')
    throw error
  }
}

/** Passes the company on to an owner of the workspace when its owner leaves the last of its workspaces. */
export const reassignCompany: OnMemberRemoved = async (tx, { workspaceId, userId, byUserId }) => {
  const passed = await store.reassignCompany(tx, workspaceId, userId, byUserId)
  if (!passed) return
  await deliverEvent(tx, {
    workspaceId,
    kind: 'company.passed_on',
    title: `The company "${passed.name}" is yours now`,
    body: 'Its owner is no longer in any of its workspaces.',
    data: { company_id: toWire('co', passed.company_id) },
    to: [passed.owner_id],
  })
}
