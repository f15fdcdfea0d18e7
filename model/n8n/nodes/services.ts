import type { Json, JsonObject } from '#model/definition'
import { isExpression } from '#model/expressions'
import { own } from '#model/json'
import { type Exit, outputOf } from '../flow.ts'
import { NotConvertible } from '../js-ast.ts'
import { isEmpty } from '../lenient.ts'
import { celOut, fieldsOut, type Out, pathOut, textOf } from '../out.ts'
import type { Scope } from '../scope.ts'
import type { Step } from '../step.ts'
import { askAndWait } from './asking.ts'
import { mailByCode } from './mail.ts'
import { notion } from './notion.ts'
import { POSTING } from './posting.ts'
import { SPECIAL } from './records.ts'
import { request } from './requests.ts'
import { addCall, columnsOf, fileOf, parameterAt } from './service-call.ts'
import { SERVICES } from './service-table.ts'
import type { ActionOf } from './service-types.ts'
import { sheets } from './sheets.ts'

/** Reads one argument in the notation of the table. */
function argument(step: Step, spec: string, scope: Scope): Json | undefined {
  if (spec.startsWith("'")) return spec.slice(1)
  const sign = /^(?:#|\?|@|\{\})/.exec(spec)?.[0] ?? ''
  for (const alternative of spec.slice(sign.length).split('|')) {
    const isList = alternative.endsWith('[]')
    const path = isList ? alternative.slice(0, -2) : alternative
    const raw = parameterAt(step.p, path)
    if (sign === '@') {
      if (path === 'file' ? isEmpty(raw) : step.p.binaryData === false) continue
      if (path === 'file' && step.p.binaryData !== true) return step.value(raw, scope, path)
      return step.guarded(fileOf(scope, String(raw ?? 'data')))
    }
    if (isEmpty(raw)) continue
    if (path === 'columns') return columnsOf(step, raw, scope)
    if (isList && typeof raw === 'string' && !raw.startsWith('='))
      return raw
        .split(',')
        .map((one) => one.trim())
        .filter((one) => one !== '')
        .map((one) => step.value(one, scope, path))
    const value = step.value(raw, scope, path)
    if (isList)
      return Array.isArray(value)
        ? value
        : isExpression(value)
          ? step.guarded(listFrom(step.out(raw, scope, path)))
          : [value]
    if (sign === '#')
      return typeof value === 'string' && Number.isFinite(Number(value))
        ? Number(value)
        : isExpression(value)
          ? step.guarded(celOut(`int(${step.out(raw, scope, path).cel})`, 'number'))
          : value
    if (sign === '?') return value === true || value === 'true'
    return value
  }
  return undefined
}

/** Converts a text with commas to a list; keeps a list unchanged. */
const listFrom = (of: Out): Out =>
  celOut(`(type(${of.cel}) == list ? ${of.cel} : ${textOf(of)}.split(",").map(x, x.trim()))`, 'list')

function resultOf({ list, file }: ActionOf, id: string): Out {
  const output = outputOf(id)
  if (file !== undefined)
    return fieldsOut({ binary: fieldsOut({ [file]: { ...pathOut(['nodes', id, 'output', 'file']), isFile: true } }) })
  if (list !== undefined && list !== '') return pathOut(['nodes', id, 'output', list], 'list')
  return output
}

/** Converts the node of a vendor to `service.call`; returns undefined if no service is mapped. */
export function callService(step: Step, kind: string): Exit[] | undefined {
  const { p } = step
  if (p.operation === 'sendAndWait') return askAndWait(step)
  if (kind === 'googleSheets') return sheets(step)
  if (kind === 'emailSend') return mailByCode(step)
  if (Object.hasOwn(POSTING, kind)) return POSTING[kind]!(step)
  const of = Object.hasOwn(SERVICES, kind) ? SERVICES[kind] : undefined
  if (!of) return request(step, kind)
  const resource = String(p.resource ?? of.resource)
  const operation = String(p.operation ?? defaultOperation(kind, resource) ?? of.operation)
  const byCode =
    kind === 'notion'
      ? notion(step, resource, operation)
      : Object.hasOwn(SPECIAL, kind)
        ? SPECIAL[kind]!(step, resource, operation)
        : undefined
  if (byCode) return byCode
  if (kind === 'gmail' || kind === 'googleDocs') {
    const special = mailByCode(step, resource, operation)
    if (special) return special
  }
  const found = own(of.actions as unknown as JsonObject, `${resource}:${operation}`) as unknown as ActionOf | undefined
  if (!found) throw new NotConvertible(`${of.service}: the operation "${resource} ${operation}" is not mapped`)
  return step.each(
    (at) => {
      const args: JsonObject = {}
      for (const [name, spec] of Object.entries(found.args)) {
        const value = argument(step, spec, at.scope)
        if (value !== undefined) args[name] = value
      }
      if (p.returnAll === true || args.max_items === undefined) delete args.max_items
      return resultOf(found, addCall(step, at, of.service, found.action, args))
    },
    { many: found.list !== undefined },
  )
}

/** The operation that n8n uses if the template names none: the first of its list. */
const DEFAULTS: Record<string, Record<string, string>> = {
  slack: { message: 'post', channel: 'create', user: 'info', reaction: 'add', file: 'upload' },
  telegram: { message: 'sendMessage', chat: 'get', callback: 'answerQuery', file: 'get' },
  gmail: { message: 'send', draft: 'create', label: 'create', thread: 'addLabels' },
  googleDrive: { file: 'upload', folder: 'create', fileFolder: 'search' },
  googleCalendar: { event: 'create', calendar: 'availability' },
  discord: { message: 'send', channel: 'create', member: 'getAll' },
  github: { issue: 'create', file: 'create', repository: 'getIssues', release: 'create' },
  notion: { page: 'create', databasePage: 'create', database: 'get', block: 'append' },
  airtable: { record: 'get' },
  hubspot: { contact: 'upsert', company: 'create', deal: 'create', ticket: 'create' },
  jira: { issue: 'create', issueComment: 'add', user: 'get' },
}
const defaultOperation = (kind: string, resource: string): string | undefined => DEFAULTS[kind]?.[resource]
