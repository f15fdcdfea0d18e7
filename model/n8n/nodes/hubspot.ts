import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { type Exit, outputOf } from '../flow.ts'
import { listOf, objectOf } from '../lenient.ts'
import type { Out } from '../out.ts'
import type { Scope } from '../scope.ts'
import type { Place, Step } from '../step.ts'
import { addCall, chosen, itemsOf, limitOf } from './service-call.ts'

const HUBSPOT: Record<string, string> = {
  ...{
    firstName: 'firstname',
    lastName: 'lastname',
    jobTitle: 'jobtitle',
    companyName: 'company',
    phoneNumber: 'phone',
  },
  ...{ websiteUrl: 'website', postalCode: 'zip', streetAddress: 'address', dealName: 'dealname', stage: 'dealstage' },
  ...{
    closeDate: 'closedate',
    lifeCycleStage: 'lifecyclestage',
    leadStatus: 'hs_lead_status',
    companyDomainName: 'domain',
  },
  ...{ numberOfEmployees: 'numberofemployees', aboutUs: 'about_us', associatedCompanyId: 'associatedcompanyid' },
}
const TYPES: Record<string, string> = { contact: 'contacts', company: 'companies', deal: 'deals', ticket: 'tickets' }

function hubspotFields(step: Step, scope: Scope, held: JsonObject): JsonObject {
  const fields: JsonObject = {}
  for (const [key, raw] of Object.entries(held)) {
    if (key === 'customPropertiesUi')
      for (const one of listOf(objectOf(raw).customPropertiesValues))
        fields[String(chosen(one.property) ?? '')] = step.value(one.value ?? '', scope, 'property')
    else if (!isObject(raw) || raw.__rl === true)
      fields[HUBSPOT[key] ?? key.toLowerCase()] = step.value(chosen(raw) ?? '', scope, key)
  }
  return fields
}

export function hubspot(step: Step, resource: string, operation: string): Exit[] | undefined {
  const { p } = step
  const type = TYPES[resource]
  if (type === undefined) return undefined
  const id = (scope: Scope): Json => step.text(chosen(p[`${resource}Id`]), scope, 'id')
  const call = (at: Place, action: string, args: JsonObject): Out =>
    outputOf(addCall(step, at, 'hubspot', action, args))
  const more = objectOf(p.additionalFields)
  if (operation === 'upsert' && resource === 'contact')
    return step.each((at) =>
      call(at, 'upsert_contact', {
        email: step.text(p.email, at.scope, 'email'),
        properties: hubspotFields(step, at.scope, more),
      }),
    )
  if (operation === 'create')
    return step.each((at) =>
      call(at, 'create_object', {
        type,
        properties: hubspotFields(step, at.scope, {
          ...(p.name !== undefined && { name: p.name }),
          ...(p.stage !== undefined && { stage: p.stage }),
          ...(p.pipelineId !== undefined && { hs_pipeline: p.pipelineId }),
          ...(p.stageId !== undefined && { hs_pipeline_stage: p.stageId }),
          ...(p.ticketName !== undefined && { subject: p.ticketName }),
          ...more,
        }),
      }),
    )
  if (operation === 'update')
    return step.each((at) =>
      call(at, 'update_object', {
        type,
        id: id(at.scope),
        properties: hubspotFields(step, at.scope, objectOf(p.updateFields)),
      }),
    )
  if (operation === 'get') return step.each((at) => call(at, 'get_object', { type, id: id(at.scope) }))
  if (operation === 'delete') return step.each((at) => call(at, 'delete_object', { type, id: id(at.scope) }))
  if (operation === 'getAll' || operation === 'getRecentlyCreatedUpdated')
    return step.each((at) => itemsOf(addCall(step, at, 'hubspot', 'list_objects', { type, ...limitOf(step) })), {
      many: true,
    })
  if (operation !== 'search') return undefined
  return step.each(
    (at) => {
      const groups = listOf(objectOf(p.filterGroupsUi).filterGroupsValues).map((group) => ({
        filters: listOf(objectOf(group.filtersUi).filterValues).map((one) => ({
          propertyName: String(one.propertyName ?? '').split('|')[0]!,
          operator: String(one.operator ?? 'EQ'),
          ...(one.value !== undefined && { value: step.text(one.value, at.scope, 'value') }),
        })),
      }))
      const query = more.query
      return itemsOf(
        addCall(step, at, 'hubspot', 'search_objects', {
          type,
          ...(groups.length > 0 && { filter_groups: groups as unknown as Json[] }),
          ...(typeof query === 'string' && query !== '' && { text: step.text(query, at.scope, 'query') }),
          ...limitOf(step),
        }),
      )
    },
    { many: true },
  )
}
