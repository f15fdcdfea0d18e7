import type { JsonObject } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import type { ServiceEffect } from '#providers/services/manifest'
import type { AuthHint, CompiledDocument } from '#providers/services/openapi/index'
import type { PiecePackage, PieceTrigger } from '#providers/services/pieces/index'
import type { McpProgram, ProgramLock } from '#providers/services/programs/index'

export type ImportedRow = {
  service_id: string
  service: string
  kind: 'openapi' | 'mcp' | 'piece' | 'mcp_program'
  title: string
  description: string
  version: string
  base_url: string
  reference: string | null
  source_url: string | null
  auth: AuthHint[]
  credential_required: boolean
  package: PiecePackage | McpProgram | null
  created_by: string | null
  created_at: Date
  updated_at: Date
}

export type ActionRow = {
  name: string
  title: string
  description: string
  effect: ServiceEffect
  method: string
  path: string
}

const columns = `s.service_id, s.service, s.kind, s.title, s.description, s.version, s.base_url, s.reference, s.source_url, s.auth,
  s.credential_required, s.package, s.created_by, s.created_at, s.updated_at`

export type TriggerHead = Pick<PieceTrigger, 'name' | 'title' | 'description' | 'kind'>

/** Returns the services with the heads of their triggers. */
export const listImported = (tx: Tx, workspaceId: string): Promise<(ImportedRow & { triggers: TriggerHead[] })[]> =>
  tx.rows<ImportedRow & { triggers: TriggerHead[] }>(
    `select ${columns}, (select coalesce(jsonb_agg(jsonb_build_object('name', t -> 'name', 'title', t -> 'title',
         'description', t -> 'description', 'kind', t -> 'kind') order by n), '[]')
       from jsonb_array_elements(s.triggers) with ordinality as listed (t, n)) as triggers
     from imported_services s where s.workspace_id = $1 order by s.service`,
    [workspaceId],
  )

export const findImported = (tx: Tx, workspaceId: string, service: string): Promise<ImportedRow | undefined> =>
  tx.maybe<ImportedRow>(`select ${columns} from imported_services s where s.workspace_id = $1 and s.service = $2`, [
    workspaceId,
    service,
  ])

export const listPieceTriggers = async (tx: Tx, workspaceId: string, serviceId: string): Promise<PieceTrigger[]> =>
  (
    await tx.maybe<{ triggers: PieceTrigger[] }>(
      'select triggers from imported_services where workspace_id = $1 and service_id = $2',
      [workspaceId, serviceId],
    )
  )?.triggers ?? []

export const findLock = async (tx: Tx, workspaceId: string, integrity: string): Promise<ProgramLock> =>
  (
    await tx.maybe<{ lock: ProgramLock }>(
      `select lock from imported_services where workspace_id = $1 and package ->> 'integrity' = $2 limit 1`,
      [workspaceId, integrity],
    )
  )?.lock ?? null

/** Returns the actions of one service, or of all services if `serviceId` is null. */
export const listActionHeads = (
  tx: Tx,
  workspaceId: string,
  serviceId: string | null,
): Promise<(ActionRow & { service_id: string })[]> =>
  tx.rows(
    `select a.service_id, a.name, a.title, a.description, a.effect, a.method, a.path from imported_actions a
     where a.workspace_id = $1 and ($2::uuid is null or a.service_id = $2) order by a.service_id, a.name`,
    [workspaceId, serviceId],
  )

/** Returns complete actions. If `name` is null, all actions of the service. */
export const listActions = (
  tx: Tx,
  workspaceId: string,
  serviceId: string,
  name: string | null,
): Promise<(ActionRow & { action: JsonObject })[]> =>
  tx.rows(
    `select a.name, a.title, a.description, a.effect, a.method, a.path, a.action from imported_actions a
     where a.workspace_id = $1 and a.service_id = $2 and ($3::text is null or a.name = $3) order by a.name`,
    [workspaceId, serviceId, name],
  )

/** Counts the workspace's other services and their actions. */
export const countOthers = (
  tx: Tx,
  workspaceId: string,
  service: string,
): Promise<{ services: number; actions: number }> =>
  tx.row(
    `select count(*)::integer as services, coalesce(sum(action_count), 0)::integer as actions from imported_services
     where workspace_id = $1 and service <> $2`,
    [workspaceId, service],
  )

/** Holds a lock until the end of the transaction, so that concurrent imports cannot exceed the limits. */
export const lockImports = (tx: Tx, workspaceId: string): Promise<unknown> =>
  tx.rows(`select pg_advisory_xact_lock(hashtextextended('imported_services ' || $1::text, 0))`, [workspaceId])

export type SavedService = Omit<ImportedRow, 'created_at' | 'updated_at' | 'created_by'> & {
  sha256: string
  actions: CompiledDocument['actions']
  triggers: PieceTrigger[]
  lock: ProgramLock
}

/**
 * Saves a service. An existing service with the name keeps its id and creator; its actions are replaced by those of the
 * document.
 */
export async function saveImported(tx: Tx, workspaceId: string, userId: string, row: SavedService): Promise<string> {
  const { service_id } = await tx.row<{ service_id: string }>(
    `insert into imported_services (workspace_id, service_id, service, kind, title, description, version, base_url, reference, source_url,
       sha256, auth, credential_required, action_count, created_by, package, triggers, lock)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::jsonb, $13, $14, $15, $16::jsonb, $17::jsonb, $18::jsonb)
     on conflict (workspace_id, service) do update set kind = excluded.kind, title = excluded.title, description = excluded.description,
       version = excluded.version, base_url = excluded.base_url, reference = excluded.reference, source_url = excluded.source_url,
       sha256 = excluded.sha256, auth = excluded.auth, credential_required = excluded.credential_required,
       action_count = excluded.action_count, package = excluded.package, triggers = excluded.triggers, lock = excluded.lock,
       updated_at = now()
     returning service_id`,
    [
      workspaceId,
      row.service_id,
      row.service,
      row.kind,
      row.title,
      row.description,
      row.version,
      row.base_url,
      row.reference,
      row.source_url,
      row.sha256,
      JSON.stringify(row.auth),
      row.credential_required,
      row.actions.length,
      userId,
      row.package && JSON.stringify(row.package),
      JSON.stringify(row.triggers),
      row.lock && JSON.stringify(row.lock),
    ],
  )
  await tx.count('delete from imported_actions where workspace_id = $1 and service_id = $2', [workspaceId, service_id])
  const heads = row.actions.map(({ head }) => head)
  await tx.count(
    `insert into imported_actions (workspace_id, service_id, name, title, description, effect, method, path, action)
     select $1, $2, a.name, a.title, a.description, a.effect, a.method, a.path, a.action::jsonb
     from unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[])
       as a (name, title, description, effect, method, path, action)`,
    [
      workspaceId,
      service_id,
      heads.map(({ name }) => name),
      heads.map(({ title }) => title),
      heads.map(({ description }) => description),
      heads.map(({ effect }) => effect),
      heads.map(({ method }) => method),
      heads.map(({ path }) => path),
      row.actions.map(({ text }) => text),
    ],
  )
  return service_id
}

export const deleteImported = (tx: Tx, workspaceId: string, service: string): Promise<number> =>
  tx.count('delete from imported_services where workspace_id = $1 and service = $2', [workspaceId, service])
