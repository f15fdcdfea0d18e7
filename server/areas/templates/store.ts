import type { TemplateTool } from '#areas/conversations/agent/types'
import { sharesColumn, type TeamShare } from '#areas/teams/shares'
import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import { type Features, templateList } from './schema.ts'

export type Row = {
  template_id: string
  name: string
  owner_id: string
  teams: TeamShare<'editor'>[]
  greeting: string | null
  locale: string | null
  instructions: string | null
  workflow_ids: string[]
  model: string | null
  llm: { credential_id?: string; fallback_credential_id?: string } | null
  voice: string | null
  theme: Record<string, unknown>
  features: Partial<Features>
  allowed_origins: string[]
  mode: 'menu' | 'agent'
  knowledge_ids: string[]
  tools: TemplateTool[]
  retention_days: number | null
  created_at: Date
  updated_at: Date
}

const columns = `t.template_id, t.name, t.owner_id, t.greeting, t.locale, t.instructions, array(select w.workflow_id from template_workflows w
    join workflows f on f.workspace_id = w.workspace_id and f.workflow_id = w.workflow_id and f.deleted_at is null
    where w.workspace_id = t.workspace_id and w.template_id = t.template_id order by w.position) as workflow_ids,
  t.model, t.llm, t.voice, t.theme, t.features, t.allowed_origins, t.retention_days, t.mode, t.tools,
  array(select k.knowledge_id from unnest(t.knowledge_ids) with ordinality as n (knowledge_id, position)
    join knowledge_bases k on k.workspace_id = t.workspace_id and k.knowledge_id = n.knowledge_id order by n.position) as knowledge_ids,
  ${sharesColumn('t', 'template_id')},
  t.created_at, t.updated_at`

export const findTemplate = (tx: Tx, workspaceId: string, templateId: string): Promise<Row | undefined> =>
  tx.maybe<Row>(`select ${columns} from templates t where t.workspace_id = $1 and t.template_id = $2`, [
    workspaceId,
    templateId,
  ])

/** Checks whether one of the person's teams may change the template. */
export const isEditor = async (tx: Tx, workspaceId: string, templateId: string, userId: string): Promise<boolean> =>
  (await tx.row<{ edits: boolean }>('select edits_template($1, $2, $3) as edits', [workspaceId, templateId, userId]))
    .edits

export const listTemplates = (tx: Tx, workspaceId: string, asked: ListInput) =>
  readList<Row>(tx, templateList, asked, {
    sql: `select ${columns} from templates t where t.workspace_id = $1`,
    values: [workspaceId],
  })

export type Settable = Omit<Row, 'template_id' | 'owner_id' | 'teams' | 'workflow_ids' | 'created_at' | 'updated_at'>

export const insertTemplate = (
  tx: Tx,
  workspaceId: string,
  template: Settable & { template_id: string; owner_id: string },
): Promise<number> =>
  tx.count(
    `insert into templates (workspace_id, template_id, owner_id, name, greeting, instructions, model, voice, theme, features, allowed_origins, retention_days, llm, mode, knowledge_ids, tools, locale)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
    [workspaceId, template.template_id, template.owner_id, ...settable(template)],
  )

export const updateTemplate = (tx: Tx, workspaceId: string, templateId: string, template: Settable): Promise<number> =>
  tx.count(
    `update templates set name = $3, greeting = $4, instructions = $5, model = $6, voice = $7, theme = $8, features = $9,
       allowed_origins = $10, retention_days = $11, llm = $12, mode = $13, knowledge_ids = $14, tools = $15, locale = $16, updated_at = now() where workspace_id = $1 and template_id = $2`,
    [workspaceId, templateId, ...settable(template)],
  )

const settable = (template: Settable): unknown[] => [
  template.name,
  template.greeting,
  template.instructions,
  template.model,
  template.voice,
  template.theme,
  template.features,
  template.allowed_origins,
  template.retention_days,
  template.llm,
  template.mode,
  template.knowledge_ids,
  JSON.stringify(template.tools),
  template.locale,
]

export const deleteTemplate = (tx: Tx, workspaceId: string, templateId: string): Promise<number> =>
  tx.count('delete from templates where workspace_id = $1 and template_id = $2', [workspaceId, templateId])

/** Replaces the workflows. Workflows that remain keep the person who added them. */
export async function replaceWorkflows(
  tx: Tx,
  workspaceId: string,
  templateId: string,
  workflowIds: string[],
  addedBy: string,
): Promise<void> {
  await tx.count(
    'delete from template_workflows where workspace_id = $1 and template_id = $2 and workflow_id <> all ($3)',
    [workspaceId, templateId, workflowIds],
  )
  await tx.count(
    `insert into template_workflows (workspace_id, template_id, workflow_id, position, added_by)
     select $1, $2, workflow_id, position, $4 from unnest($3::uuid[]) with ordinality as w (workflow_id, position)
     on conflict (workspace_id, template_id, workflow_id) do update set position = excluded.position`,
    [workspaceId, templateId, workflowIds, addedBy],
  )
}

/** Returns the given workflows that this person may start. */
export const listStartable = async (
  tx: Tx,
  workspaceId: string,
  workflowIds: string[],
  userId: string,
): Promise<string[]> =>
  (
    await tx.rows<{ workflow_id: string }>(
      `select workflow_id from workflows w where workspace_id = $1 and workflow_id = any ($2) and deleted_at is null
         and (owner_id = $3 or exists (select from workflow_people m where m.workspace_id = w.workspace_id
           and m.workflow_id = w.workflow_id and m.user_id = $3 and m.role in ('editor', 'member')))`,
      [workspaceId, workflowIds, userId],
    )
  ).map(({ workflow_id }) => workflow_id)
