import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { type Exit, outputOf } from '../flow.ts'
import { NotConvertible } from '../js-ast.ts'
import { isEmpty, listOf, objectOf } from '../lenient.ts'
import { celOut, member, type Out, pathOut, textOf } from '../out.ts'
import type { Scope } from '../scope.ts'
import type { Place, Step } from '../step.ts'
import { addCall, chosen, fileOf } from './service-call.ts'

// Operations of Salesforce, Mailchimp, OneDrive and S3 whose arguments combine several parameters.

const OBJECTS: Record<string, string> = {
  lead: 'Lead',
  contact: 'Contact',
  account: 'Account',
  opportunity: 'Opportunity',
  case: 'Case',
  task: 'Task',
  user: 'User',
}
/** Fields whose name at Salesforce is not the capitalized parameter name. */
const FIELDS: Record<string, string> = {
  lastname: 'LastName',
  firstname: 'FirstName',
  jobTitle: 'Title',
  leadSource: 'LeadSource',
  mobilePhone: 'MobilePhone',
  postalCode: 'PostalCode',
  numberOfEmployees: 'NumberOfEmployees',
  annualRevenue: 'AnnualRevenue',
  stageName: 'StageName',
  closeDate: 'CloseDate',
  accountId: 'AccountId',
  acconuntId: 'AccountId',
  ownerId: 'OwnerId',
  owner: 'OwnerId',
  activityDate: 'ActivityDate',
  whatId: 'WhatId',
  whoId: 'WhoId',
}
const fieldName = (key: string): string => FIELDS[key] ?? `${key.slice(0, 1).toUpperCase()}${key.slice(1)}`

function salesforceFields(step: Step, scope: Scope, resource: string, isUpdate: boolean): JsonObject {
  const { p } = step
  const own = ['company', 'lastname', 'name', 'stageName', 'closeDate', 'status', 'type']
  const more = objectOf(isUpdate ? p.updateFields : p.additionalFields)
  const fields: JsonObject = {}
  if (resource !== 'customObject')
    for (const [key, raw] of [...own.map((name) => [name, p[name]] as const), ...Object.entries(more)])
      if (!isObject(raw) || raw.__rl === true) {
        const value = chosen(raw)
        if (!isEmpty(value)) fields[fieldName(key)] = step.value(value, scope, key)
      }
  for (const one of listOf(objectOf(more.customFieldsUi ?? p.customFieldsUi).customFieldsValues)) {
    const name = String(chosen(one.fieldId) ?? '').replace(/^=/, '')
    if (name === '' || name.includes('{{')) throw new NotConvertible('Salesforce: the name of a field is computed')
    fields[name] = step.value(one.value ?? '', scope, name)
  }
  return fields
}

const SIGNS: Record<string, string> = { equal: '=', '=': '=', '>': '>', '<': '<', '>=': '>=', '<=': '<=' }

/** Returns a query whose values are quoted and escaped, so that a value cannot leave its quotes. */
function soqlOf(step: Step, scope: Scope, object: string): Json {
  const options = objectOf(step.p.options)
  const named = Array.isArray(options.fields) ? options.fields.map(String) : String(options.fields ?? '').split(',')
  const fields = named.map((name) => name.trim()).filter((name) => /^\w+(?:\.\w+)*$/.test(name))
  const limit = Number(step.p.limit ?? 50)
  const conditions = listOf(objectOf(options.conditionsUi).conditionValues).map((one) => {
    const field = String(chosen(one.field) ?? '')
    const sign = SIGNS[String(one.operation ?? 'equal')]
    if (!/^\w+(?:\.\w+)*$/.test(field) || sign === undefined)
      throw new NotConvertible('Salesforce: a condition is not mapped')
    const value = textOf(step.out(one.value ?? '', scope, field))
    return `${JSON.stringify(`${field} ${sign} '`)} + ${value}.replace("\\\\", "\\\\\\\\").replace("'", "\\\\'") + "'"`
  })
  const start = `SELECT ${[...new Set(fields.length > 0 ? fields : ['Id', 'Name'])].join(', ')} FROM ${object}`
  const end = step.p.returnAll === true || !Number.isInteger(limit) ? '' : ` LIMIT ${limit}`
  if (conditions.length === 0) return `${start}${end}`
  const text = `${JSON.stringify(`${start} WHERE `)} + ${conditions.join(' + " AND " + ')} + ${JSON.stringify(end)}`
  return step.guarded(celOut(text, 'text'))
}

function salesforce(step: Step, resource: string, operation: string): Exit[] | undefined {
  const { p } = step
  const items = (id: string): Out => pathOut(['nodes', id, 'output', 'items'], 'list')
  if (resource === 'search' && operation === 'query')
    return step.each(
      (at) => items(addCall(step, at, 'salesforce', 'query', { soql: step.text(p.query, at.scope, 'query') })),
      {
        many: true,
      },
    )
  const named = resource === 'customObject' ? chosen(p.customObject) : OBJECTS[resource]
  if (typeof named !== 'string' || !/^\w+$/.test(named)) return undefined
  const id = (scope: Scope): Json =>
    step.text(chosen(p[resource === 'customObject' ? 'recordId' : `${resource}Id`]), scope, 'id')
  const call = (at: Place, action: string, args: JsonObject): Out =>
    outputOf(addCall(step, at, 'salesforce', action, { object: named, ...args }))
  switch (operation) {
    case 'create':
      return step.each((at) => call(at, 'create_record', { fields: salesforceFields(step, at.scope, resource, false) }))
    case 'update':
      return step.each((at) =>
        call(at, 'update_record', { id: id(at.scope), fields: salesforceFields(step, at.scope, resource, true) }),
      )
    case 'get':
      return step.each((at) => call(at, 'get_record', { id: id(at.scope) }))
    case 'delete':
      return step.each((at) => call(at, 'delete_record', { id: id(at.scope) }))
    case 'getAll':
      return step.each(
        (at) => items(addCall(step, at, 'salesforce', 'query', { soql: soqlOf(step, at.scope, named) })),
        { many: true },
      )
    default:
      return undefined
  }
}

function mailchimp(step: Step, resource: string, operation: string): Exit[] | undefined {
  const { p } = step
  if (resource !== 'member' || (operation !== 'create' && operation !== 'update')) return undefined
  const more = objectOf(operation === 'update' ? p.updateFields : p.options)
  const values = objectOf(p.mergeFieldsUi ?? more.mergeFieldsUi).mergeFieldsValues
  return step.each((at) => {
    const merged = Object.fromEntries(
      listOf(values).map((one) => [String(one.name ?? ''), step.value(one.value ?? '', at.scope, 'mergeField')]),
    )
    const status = String(p.status ?? more.status ?? 'subscribed')
    const tags = typeof more.tags === 'string' && more.tags !== '' && !more.tags.startsWith('=') ? more.tags : undefined
    return outputOf(
      addCall(step, at, 'mailchimp', 'put_subscriber', {
        list_id: step.text(p.list, at.scope, 'list'),
        email: step.text(p.email, at.scope, 'email'),
        ...(['subscribed', 'unsubscribed', 'pending'].includes(status) && { status }),
        ...(Object.keys(merged).length > 0 && { merge_fields: merged }),
        ...(tags !== undefined && { tags: tags.split(',').map((tag) => tag.trim()) }),
      }),
    )
  })
}

/** Returns the file of the item, or a text to be sent as a file. */
function sentFile(step: Step, { scope, add }: Place, isFile: boolean, name: Json): { file: Json; name: Json } {
  const { p } = step
  if (!isFile) {
    const id = add('file.write', { name, text: step.text(p.fileContent, scope, 'fileContent') })
    return { file: { $ref: `nodes.${id}.output` }, name }
  }
  const field = String(p.binaryPropertyName ?? 'data').replace(/^=(?!.*\{\{)/, '')
  if (field.startsWith('=')) throw new NotConvertible('the name of the field with the file is computed')
  const { cel, type, path } = fileOf(scope, field)
  const file: Out = { cel, type, ...(path && { path }) }
  const own = name === '' ? step.guarded(member(member(file, '$file'), 'name')) : name
  return { file: step.guarded(file), name: own }
}

function microsoftOneDrive(step: Step, resource: string, operation: string): Exit[] | undefined {
  const { p } = step
  if (resource !== 'file' || operation !== 'upload') return undefined
  return step.each((at) => {
    const given = step.text(p.fileName ?? '', at.scope, 'fileName')
    const sent = sentFile(step, at, p.binaryData === true, given === '' && p.binaryData !== true ? 'file.txt' : given)
    return outputOf(
      addCall(step, at, 'onedrive', 'upload_file', {
        ...(!isEmpty(p.parentId) && { folder_id: step.text(p.parentId, at.scope, 'parentId') }),
        ...sent,
      }),
    )
  })
}

function awsS3(step: Step, resource: string, operation: string): Exit[] | undefined {
  const { p } = step
  if (resource !== 'file' || operation !== 'upload') return undefined
  const folder = objectOf(p.additionalFields).parentFolderKey
  return step.each((at) => {
    const { file, name } = sentFile(step, at, p.binaryData !== false, step.text(p.fileName ?? '', at.scope, 'fileName'))
    const inFolder = isEmpty(folder)
      ? name
      : step.guarded(
          celOut(
            `${textOf(step.out(folder, at.scope, 'parentFolderKey'))} + "/" + ${textOf(step.out(p.fileName ?? '', at.scope, 'fileName'))}`,
            'text',
          ),
        )
    return outputOf(
      addCall(step, at, 'aws_s3', 'put_object', {
        bucket: step.text(p.bucketName, at.scope, 'bucketName'),
        key: inFolder,
        file,
      }),
    )
  })
}

export const MORE_SPECIAL = { salesforce, mailchimp, microsoftOneDrive, awsS3 }
