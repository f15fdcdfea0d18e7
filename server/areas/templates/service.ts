import type { TemplateTool } from '#areas/conversations/agent/types'
import { mayUseNamed } from '#areas/credentials/rights'
import { checkShares, replaceShares } from '#areas/teams/shares'
import type { FindAccessLevel } from '#platform/access/check'
import { isAtLeast } from '#platform/access/rules'
import { recordAudit } from '#platform/audit'
import { invalid, problem, unknownReference } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { newId, toWire } from '#platform/ids'
import { type AgentCheckParts, checkAgent } from './agent-check.ts'
import { featuresOf, type NewTemplate, type Template, type TemplatePatch } from './schema.ts'
import * as store from './store.ts'

type ById = { template_id: string }

/**
 * Everyone in the workspace except guests sees a template. Its creator and workspace owners own it; members of its
 * teams can change it.
 */
export const accessLevelInTemplate: FindAccessLevel = async (ctx, templateId) => {
  if (ctx.maybeWorkspace === null || ctx.workspace.role === 'guest') return undefined
  const template = await store.findTemplate(ctx.tx, ctx.workspace.workspace_id, templateId)
  if (!template) return undefined
  if (ctx.workspace.role !== 'member') return ctx.workspace.role
  if (template.owner_id === ctx.person.user_id) return 'owner'
  const { workspace_id } = ctx.workspace
  return (await store.isEditor(ctx.tx, workspace_id, templateId, ctx.person.user_id)) ? 'editor' : 'member'
}

const view = (row: store.Row): Template => ({ ...row, features: featuresOf(row.features) })

export type TemplateParts = AgentCheckParts & {
  /** Returns the caller's role in a workflow. */
  accessLevelInWorkflow: FindAccessLevel
}

export function makeTemplates(parts: TemplateParts) {
  const { accessLevelInWorkflow } = parts

  async function getTemplate(ctx: Context, { template_id }: ById): Promise<Template> {
    const row = await store.findTemplate(ctx.tx, ctx.workspace.workspace_id, template_id)
    if (!row) throw problem('not_found')
    return view(row)
  }

  /** A template lets others start a workflow, so a user who adds a workflow must be allowed to start it. */
  async function checkWorkflows(ctx: Context, workflowIds: string[], present: string[] = []): Promise<void> {
    const repeated = workflowIds.findIndex((workflowId, at) => workflowIds.indexOf(workflowId) !== at)
    if (repeated !== -1) throw invalid([{ path: `/workflow_ids/${repeated}`, message: 'is named twice' }])
    const standings = await Promise.all(workflowIds.map((workflowId) => accessLevelInWorkflow(ctx, workflowId)))
    const unknown = standings.flatMap((standing, at) => (standing === undefined ? [`/workflow_ids/${at}`] : []))
    if (unknown.length > 0) throw unknownReference(...unknown)
    const barred = workflowIds.filter(
      (workflowId, at) => !present.includes(workflowId) && !isAtLeast(standings[at] ?? 'visible', 'member'),
    )
    if (barred.length > 0)
      throw problem(
        'forbidden',
        `Only an owner or a member of a workflow may add it to a template: ${barred.map((workflowId) => toWire('wf', workflowId)).join(', ')}.`,
      )
  }

  async function checkModels(ctx: Context, llm: NewTemplate['llm'], ownerId = ctx.person.user_id): Promise<void> {
    for (const [field, named] of Object.entries(llm ?? {})) {
      const may = async (userId: string) => mayUseNamed(ctx.tx, ctx.workspace.workspace_id, named, userId)
      if (!(await may(ctx.person.user_id)) || !(await may(ownerId))) throw unknownReference(`/llm/${field}`)
    }
  }

  return {
    getTemplate,

    async listTemplates(ctx: Context, asked: ListInput) {
      const page = await store.listTemplates(ctx.tx, ctx.workspace.workspace_id, asked)
      return { ...page, items: page.items.map(view) }
    },

    async createTemplate(ctx: Context, input: NewTemplate): Promise<Template> {
      const { workspace_id } = ctx.workspace
      const workflowIds = input.workflow_ids ?? []
      await checkWorkflows(ctx, workflowIds)
      await checkModels(ctx, input.llm)
      await checkAgent(parts, ctx, input)
      await checkShares(ctx.tx, workspace_id, input.teams)
      const template_id = newId()
      await store.insertTemplate(ctx.tx, workspace_id, {
        template_id,
        owner_id: ctx.person.user_id,
        name: input.name,
        greeting: input.greeting ?? null,
        locale: input.locale ?? null,
        instructions: input.instructions ?? null,
        model: input.model ?? null,
        llm: input.llm ?? null,
        voice: input.voice ?? null,
        theme: input.theme ?? {},
        features: input.features ?? {},
        allowed_origins: input.allowed_origins ?? [],
        retention_days: input.retention_days ?? null,
        mode: input.mode ?? 'menu',
        knowledge_ids: input.knowledge_ids ?? [],
        tools: (input.tools ?? []) as TemplateTool[],
      })
      await store.replaceWorkflows(ctx.tx, workspace_id, template_id, workflowIds, ctx.person.user_id)
      if (input.teams) await replaceShares(ctx.tx, workspace_id, 'template_id', template_id, input.teams)
      return getTemplate(ctx, { template_id })
    },

    async updateTemplate(ctx: Context, { template_id, ...patch }: ById & TemplatePatch): Promise<Template> {
      const { workspace_id } = ctx.workspace
      const before = await store.findTemplate(ctx.tx, workspace_id, template_id)
      if (!before) throw problem('not_found')
      if (patch.teams !== undefined) {
        if (before.owner_id !== ctx.person.user_id && ctx.workspace.role !== 'owner')
          throw problem('forbidden', 'Only its owner, or an owner of the workspace, shares a template with teams.')
        await checkShares(ctx.tx, workspace_id, patch.teams)
        await replaceShares(ctx.tx, workspace_id, 'template_id', template_id, patch.teams ?? [])
      }
      if (patch.workflow_ids !== undefined) {
        const wanted = patch.workflow_ids ?? []
        await checkWorkflows(ctx, wanted, before.workflow_ids)
        await store.replaceWorkflows(ctx.tx, workspace_id, template_id, wanted, ctx.person.user_id)
      }
      // The template uses the owner's access, so no user can add something that the owner may not use.
      await checkModels(ctx, patch.llm, before.owner_id)
      await checkAgent(parts, ctx, patch, before.owner_id)
      const or = <T>(given: T | null | undefined, present: T, cleared: T): T =>
        given === undefined ? present : (given ?? cleared)
      await store.updateTemplate(ctx.tx, workspace_id, template_id, {
        name: patch.name ?? before.name,
        greeting: or(patch.greeting, before.greeting, null),
        locale: or(patch.locale, before.locale, null),
        instructions: or(patch.instructions, before.instructions, null),
        model: or(patch.model, before.model, null),
        llm: or(patch.llm, before.llm, null),
        voice: or(patch.voice, before.voice, null),
        theme: or(patch.theme, before.theme, {}),
        features: patch.features === null ? {} : { ...before.features, ...patch.features },
        allowed_origins: or(patch.allowed_origins, before.allowed_origins, []),
        retention_days: or(patch.retention_days, before.retention_days, null),
        mode: patch.mode ?? before.mode,
        knowledge_ids: or(patch.knowledge_ids, before.knowledge_ids, []),
        tools: or(patch.tools as TemplateTool[] | null | undefined, before.tools, []),
      })
      return getTemplate(ctx, { template_id })
    },

    async deleteTemplate(ctx: Context, { template_id }: ById): Promise<void> {
      await store.deleteTemplate(ctx.tx, ctx.workspace.workspace_id, template_id)
      await recordAudit(ctx, ctx.tx, { action: 'template.deleted', subject: toWire('tmpl', template_id) })
    },

    /** For widgets: anyone with a token of the template may read it. */
    findTemplate: store.findTemplate,
  }
}

export type Templates = ReturnType<typeof makeTemplates>
