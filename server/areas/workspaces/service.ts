import type { z } from 'zod'
import { accessLevelInCompany } from '#areas/companies/service'
import type { FindAccessLevel } from '#platform/access/check'
import { recordAudit } from '#platform/audit'
import { enterScope, enterWorkspace, requireUnbound } from '#platform/auth/scope'
import type { Tx } from '#platform/db/pool'
import { problem, unknownReference } from '#platform/errors'
import { secondFactorMissing } from '#platform/http/caller'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { newId, toWire } from '#platform/ids'
import type { NewWorkspace, Workspace, WorkspacePatch } from './schema.ts'
import * as store from './store.ts'

type ById = { workspace_id: string }

/** Returns the role. A guest may know that the workspace exists, but has no role in it. */
export const accessLevelInWorkspace: FindAccessLevel = async (ctx, workspaceId) => {
  const role = await store.findRole(ctx.tx, workspaceId, ctx.person.user_id)
  if (role !== undefined && !(await store.isFactorSatisfied(ctx.tx, workspaceId))) throw secondFactorMissing()
  return role === 'guest' ? 'visible' : role
}

export type OpenWorkspace = { orgId: string; userId: string; name: string; companyId?: string | undefined }

/**
 * Creates a workspace with its first owner, in a new company unless one is given. Leaves the transaction in the scope
 * of the workspace.
 */
export async function openWorkspace(tx: Tx, { orgId, userId, name, companyId }: OpenWorkspace): Promise<string> {
  const workspaceId = newId()
  await enterScope(tx, { workspaceId, userId })
  const company = companyId ?? newId()
  if (companyId === undefined) await store.insertCompany(tx, { companyId: company, orgId, userId, name })
  await store.insertWorkspace(tx, workspaceId, { companyId: company, orgId, name })
  await store.insertOwner(tx, workspaceId, userId)
  return workspaceId
}

export function makeWorkspaces() {
  const getWorkspace = async (ctx: Context, { workspace_id }: ById): Promise<Workspace> => {
    const workspace = await store.findWorkspace(ctx.tx, workspace_id, ctx.person.user_id)
    if (!workspace) throw problem('not_found')
    return workspace
  }

  return {
    getWorkspace,

    listWorkspaces: (ctx: Context, asked: ListInput) => store.listWorkspaces(ctx.tx, ctx.person.user_id, asked),

    async createWorkspace(ctx: Context, input: z.output<typeof NewWorkspace>): Promise<Workspace> {
      requireUnbound(ctx)
      await requireWorker(ctx)
      if (input.company_id !== undefined) await requireCompany(ctx, input.company_id)
      const workspace_id = await openWorkspace(ctx.tx, {
        orgId: ctx.person.org_id,
        userId: ctx.person.user_id,
        name: input.name,
        companyId: input.company_id,
      })
      await recordAudit(ctx, ctx.tx, {
        action: 'workspace.created',
        subject: toWire('ws', workspace_id),
        workspaceId: workspace_id,
        data: { name: input.name },
      })
      return getWorkspace(ctx, { workspace_id })
    },

    async updateWorkspace(ctx: Context, input: ById & z.output<typeof WorkspacePatch>): Promise<Workspace> {
      const { workspace_id, settings, ...patch } = input
      const before = await getWorkspace(ctx, { workspace_id })
      if (patch.company_id !== undefined && patch.company_id !== before.company_id) {
        requireUnbound(ctx)
        await requireCompany(ctx, patch.company_id)
      }
      if (settings?.require_second_factor && !(await store.hasSecondFactor(ctx.tx, ctx.person.user_id)))
        throw problem('conflict', 'Set up a second factor for yourself first; otherwise you would lock yourself out.')
      await enterWorkspace(ctx.tx, workspace_id)
      await store.updateWorkspace(ctx.tx, workspace_id, { ...patch, ...settings })
      const after = await getWorkspace(ctx, { workspace_id })
      await recordAudit(ctx, ctx.tx, {
        action: 'workspace.updated',
        subject: toWire('ws', workspace_id),
        workspaceId: workspace_id,
        data: { name: after.name, company_id: toWire('co', after.company_id), settings: after.settings },
      })
      return after
    },

    /**
     * Deletes the workspace with everything in it, including its audit log. One entry remains for operators, and the
     * company remains.
     */
    async deleteWorkspace(ctx: Context, { workspace_id }: ById): Promise<void> {
      const { name, company_id } = await getWorkspace(ctx, { workspace_id })
      await enterWorkspace(ctx.tx, workspace_id)
      await store.deleteWorkspace(ctx.tx, workspace_id)
      await recordAudit(ctx, ctx.tx, {
        action: 'workspace.deleted',
        subject: toWire('ws', workspace_id),
        workspaceId: null,
        data: { name, company_id: toWire('co', company_id) },
      })
    },

    async selectWorkspace(ctx: Context, { workspace_id }: ById): Promise<Workspace> {
      if (ctx.credential.kind !== 'session')
        throw problem(
          'conflict',
          'An API key cannot select a workspace: send X-Workspace-Id, or bind the key to a workspace.',
        )
      const workspace = await getWorkspace(ctx, { workspace_id })
      await store.selectWorkspace(ctx.tx, workspace_id, ctx.credential.id)
      return workspace
    },
  }
}

export type Workspaces = ReturnType<typeof makeWorkspaces>

/** If sign-up is closed, viewers and guests cannot create a workspace. */
async function requireWorker(ctx: Context): Promise<void> {
  if (ctx.config.HEDDLE_SIGN_UP === 'open' || ctx.person.operator) return
  if (!(await store.worksSomewhere(ctx.tx, ctx.person.user_id)))
    throw problem(
      'forbidden',
      'On this installation only owners and members of a workspace may create further workspaces.',
    )
}

async function requireCompany(ctx: Context, companyId: string): Promise<void> {
  const standing = await accessLevelInCompany(ctx, companyId)
  if (standing === undefined) throw unknownReference('/company_id')
  if (standing !== 'owner')
    throw problem(
      'forbidden',
      'Only the owner of the company, or of one of its workspaces, may move a workspace there.',
    )
}
