import type { Context } from '#platform/http/context'
import * as store from './hours-store.ts'
import type { OpeningHours, OpeningHoursInput } from './schema.ts'

// The hours when people answer. A template without its own hours uses those of the workspace.

const NONE: OpeningHours = { hours: null, updated_at: null }

type OfTemplate = { template_id: string }

const read = async (ctx: Context, templateId: string | null): Promise<OpeningHours> =>
  (await store.findHours(ctx.tx, ctx.workspace.workspace_id, templateId)) ?? NONE

async function put(ctx: Context, templateId: string | null, { hours }: OpeningHoursInput): Promise<OpeningHours> {
  const { workspace_id } = ctx.workspace
  if (hours === null) await store.deleteHours(ctx.tx, workspace_id, templateId)
  else await store.putHours(ctx.tx, workspace_id, templateId, JSON.stringify(hours))
  return read(ctx, templateId)
}

export const getOpeningHours = (ctx: Context): Promise<OpeningHours> => read(ctx, null)
export const putOpeningHours = (ctx: Context, input: OpeningHoursInput): Promise<OpeningHours> => put(ctx, null, input)

export const getTemplateHours = (ctx: Context, { template_id }: OfTemplate): Promise<OpeningHours> =>
  read(ctx, template_id)
export const putTemplateHours = (ctx: Context, { template_id, hours }: OfTemplate & OpeningHoursInput) =>
  put(ctx, template_id, { hours })
