import { mayUseNamed } from '#areas/credentials/rights'
import { findTarget } from '#areas/executions/start'
import type { SystemWorkflow } from '#areas/workflows/system'
import type { Json, JsonObject } from '#model/definition'
import { own } from '#model/json'
import { validateJson } from '#model/json-schema'
import { checkSchema } from '#model/json-schema-check'
import { systemClock } from '#platform/clock'
import { invalid, isProblem, unknownReference } from '#platform/errors'
import { type Context, scopeOf } from '#platform/http/context'
import { fromWire } from '#platform/ids'
import type { Extraction, Requirement } from '#providers/extraction/index'
import { type ExtractValues, requirementsOf } from './extract.ts'
import type { ExtractRequirements } from './schema.ts'

export function makeRequirements(options: { extract: ExtractValues; system: ReadonlyMap<string, SystemWorkflow> }) {
  async function inputsOf(ctx: Context, workflowId: string): Promise<Json> {
    const known = options.system.get(workflowId)
    if (known) return known.definition.inputs ?? true
    const uuid = fromWire('wf', workflowId)
    if (uuid === undefined) throw unknownReference('/workflow_id')
    try {
      return (await ctx.db.tenant(scopeOf(ctx), (tx) => findTarget(tx, ctx.workspace.workspace_id, uuid))).inputs
    } catch (error) {
      throw isProblem(error, 'not_found') ? unknownReference('/workflow_id') : error
    }
  }

  async function wantedBy(ctx: Context, body: ExtractRequirements): Promise<Requirement[]> {
    const { requirements, workflow_id } = body
    if ((requirements === undefined) === (workflow_id === undefined))
      throw invalid([{ path: '/requirements', message: 'exactly one of requirements and workflow_id is required' }])
    if (workflow_id !== undefined) return requirementsOf(await inputsOf(ctx, workflow_id))
    const wanted = requirements!.map((each): Requirement => {
      const { name, description, schema, required } = typeof each === 'string' ? { name: each } : { ...each }
      return {
        name,
        ...(description !== undefined && { description }),
        ...(schema !== undefined && { schema: schema as JsonObject }),
        ...(required !== undefined && { required }),
      }
    })
    refuse(
      wanted.flatMap(({ name, schema }, position) => [
        ...(wanted.findIndex((other) => other.name === name) < position
          ? [{ path: `/requirements/${position}`, message: `duplicates the name ${JSON.stringify(name)}` }]
          : []),
        ...(schema ? checkSchema(schema, `/requirements/${position}/schema`) : []),
      ]),
    )
    return wanted
  }

  return {
    async extractRequirements(ctx: Context, body: ExtractRequirements): Promise<Extraction> {
      const requirements = await wantedBy(ctx, body)
      await requireUsable(ctx, body.credential_id)
      const known = (body.known ?? {}) as JsonObject
      refuse(
        requirements.flatMap(({ name, schema }) => {
          const value = own(known, name)
          return value === undefined || schema === undefined
            ? []
            : validateJson(schema, value, { path: `/known/${name.replaceAll('~', '~0').replaceAll('/', '~1')}` })
        }),
      )
      return options.extract({
        message: body.message,
        requirements,
        known,
        timeZone: body.time_zone ?? 'UTC',
        now: systemClock.now(),
        modelSettings: {
          workspaceId: ctx.workspace.workspace_id,
          userId: ctx.person.user_id,
          credentialId: body.credential_id,
          model: body.model,
        },
        signal: ctx.stepAside(),
      })
    },
  }
}

async function requireUsable(ctx: Context, named: string | undefined): Promise<void> {
  if (named === undefined) return
  const { workspace_id } = ctx.workspace
  const usable = await ctx.db.tenant(scopeOf(ctx), (tx) => mayUseNamed(tx, workspace_id, named, ctx.person.user_id))
  if (!usable) throw unknownReference('/credential_id')
}

function refuse(errors: { path: string; message: string }[]): void {
  if (errors.length > 0) throw invalid(errors.slice(0, 50))
}

export type Requirements = ReturnType<typeof makeRequirements>
