import { type AgentTool, problemsOf, safeName } from '#engine/agents/tools'
import { NodeFailure } from '#engine/node'
import type { Json, JsonObject } from '#model/definition'
import type { Database } from '#platform/db/pool'
import { isProblem } from '#platform/errors'
import { fromWire, UNKNOWN_ID } from '#platform/ids'
import type { TurnContext } from './turn-context.ts'
import type { AgentPorts, TemplateTool } from './types.ts'

export type DatasetGrant = Extract<TemplateTool, { dataset_id: string }>

const MAX_RECORDS = 20
/** The maximum number of records that one lookup reads. A larger dataset needs a workflow. */
const MAX_SCANNED = 200_000

const value: JsonObject = { type: ['string', 'number', 'boolean'] }

/**
 * Returns the schema of the arguments. With `match` the model must know a value of each of these fields, so it cannot
 * list the dataset.
 */
function schemaOf({ match, columns }: DatasetGrant): JsonObject {
  if (match && match.length > 0)
    return {
      type: 'object',
      properties: Object.fromEntries(match.map((field) => [field, value])),
      required: match,
      additionalProperties: false,
    }
  return {
    type: 'object',
    properties: columns
      ? Object.fromEntries(columns.map((field) => [field, value]))
      : { where: { type: 'object', description: 'Fields and their required values', additionalProperties: value } },
    additionalProperties: false,
  }
}

const plain = (one: Json | undefined): string =>
  (typeof one === 'string' ? one : (JSON.stringify(one ?? null) ?? '')).trim().toLowerCase()

/** Returns a tool that finds records of the dataset. Undefined if the dataset was deleted. */
export async function datasetTool(
  db: Database,
  ports: AgentPorts,
  context: TurnContext,
  grant: DatasetGrant,
): Promise<AgentTool | undefined> {
  const { workspace_id: workspaceId } = context.thread
  const datasetId = fromWire('ds', grant.dataset_id) ?? UNKNOWN_ID
  const dataset = await db.tenant({ workspaceId, userId: null }, (tx) => ports.findDataset(tx, workspaceId, datasetId))
  if (!dataset) return undefined
  const schema = schemaOf(grant)
  const free = !grant.match?.length && !grant.columns
  return {
    name: safeName(`look_up_${dataset.name}`),
    title: dataset.name,
    description: grant.description ?? `Finds records of "${dataset.name}" whose fields have the given values.`,
    schema,
    effect: 'pure',
    check: (args) => problemsOf(schema, args),
    async run({ args, signal }) {
      const wanted = Object.entries(free ? ((args.where ?? {}) as JsonObject) : args)
      const records: JsonObject[] = []
      let scanned = 0
      try {
        for await (const { texts } of ports.readRecords(workspaceId, datasetId)) {
          signal.throwIfAborted()
          for (const text of texts) {
            const record = JSON.parse(text) as JsonObject
            if (
              !wanted.every(([field, given]) => Object.hasOwn(record, field) && plain(record[field]) === plain(given))
            )
              continue
            if (records.length === MAX_RECORDS) return { records, more: true }
            records.push(shown(record, grant.columns))
          }
          scanned += texts.length
          if (scanned > MAX_SCANNED)
            throw new NodeFailure('dataset_too_large', 'the dataset is too large to be searched in a conversation')
        }
      } catch (error) {
        if (!isProblem(error, 'dataset_unbound')) throw error
        throw new NodeFailure('dataset_unbound', 'the dataset was deleted')
      }
      return { records, more: false }
    },
  }
}

const shown = (record: JsonObject, columns: string[] | undefined): JsonObject =>
  columns === undefined
    ? record
    : Object.fromEntries(columns.filter((name) => Object.hasOwn(record, name)).map((name) => [name, record[name]!]))
