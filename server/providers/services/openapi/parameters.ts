import type { Json, JsonObject } from '#model/definition'
import { isForbiddenKey, isObject } from '#model/json'
import { titleOf } from '../expand.ts'
import type { OperationBody, Parameter, ParameterStyle } from './index.ts'
import { resolved } from './references.ts'
import { FILE_OR_TEXT, formSchema, shortText } from './schema.ts'

// The parameters and the body of one operation: how each is sent, and the schema of its argument.

/** Headers that the client, the credential or the body sets. */
const NOT_ASKED = /^(accept|content-type|authorization|host|content-length|connection|transfer-encoding)$/i

export type Arguments = { properties: JsonObject; required: string[] }

export class Unusable extends Error {}

/** Returns the name of an argument without a leading `$`, which would look like an expression. */
const argName = (taken: JsonObject, name: string, where: string): string => {
  const plain = name.replace(/^\$+/, '') || where
  const own = Object.hasOwn(taken, plain) || plain === 'body' ? `${where}_${plain}` : plain
  return isForbiddenKey(own) ? `${where}_${own}` : own
}

const STYLES: Readonly<Record<Parameter['in'], readonly Json[]>> = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
}
const FORMATS: Readonly<Record<string, ParameterStyle>> = {
  ssv: 'spaceDelimited',
  tsv: 'tabDelimited',
  pipes: 'pipeDelimited',
}

function styleOf(parameter: JsonObject, where: Parameter['in'], isOld: boolean): Pick<Parameter, 'style' | 'explode'> {
  const usual = STYLES[where][0] as ParameterStyle
  if (isOld) {
    const format = String(parameter.collectionFormat ?? 'csv')
    return { style: (where === 'query' && FORMATS[format]) || usual, explode: format === 'multi' }
  }
  const style = (STYLES[where].includes(parameter.style ?? '') ? parameter.style : usual) as ParameterStyle
  return { style, explode: typeof parameter.explode === 'boolean' ? parameter.explode : style === 'form' }
}

const isPlace = (place: Json | undefined): place is Parameter['in'] =>
  place === 'path' || place === 'query' || place === 'header' || place === 'cookie'

/** Returns the schema of a Swagger 2 parameter, which is next to its name. */
const describedHere = ({ name: _n, in: _i, required: _r, description: _d, ...schema }: JsonObject): JsonObject => schema

/** Returns the parameters of an operation. They override parameters of its path with the same name. */
export function parametersOf(document: JsonObject, lists: readonly (Json | undefined)[]): JsonObject[] {
  const found = new Map<string, JsonObject>()
  for (const one of lists.flatMap((list) => (Array.isArray(list) ? list : []))) {
    const parameter = resolved(document, one)
    if (parameter === undefined) throw new Unusable('a parameter is missing in the document')
    if (typeof parameter.name === 'string') found.set(`${parameter.in} ${parameter.name}`, parameter)
  }
  return [...found.values()]
}

export function readParameter(document: JsonObject, parameter: JsonObject, args: Arguments): Parameter | undefined {
  const { name, in: where } = parameter
  if (typeof name !== 'string' || name === '' || !isPlace(where)) return undefined
  if (where === 'header' && NOT_ASKED.test(name)) return undefined
  const isOld = document.swagger !== undefined
  const [content] = isObject(parameter.content) ? Object.values(parameter.content) : []
  const inner = isOld ? describedHere(parameter) : ((isObject(content) ? content.schema : parameter.schema) ?? {})
  const arg = argName(args.properties, name, where)
  const description = shortText(parameter.description)
  args.properties[arg] = {
    title: titleOf(arg),
    ...formSchema(document, inner),
    ...(description && { description }),
  }
  if (parameter.required === true || where === 'path') args.required.push(arg)
  return {
    arg,
    name,
    in: where,
    ...styleOf(parameter, where, isOld),
    ...(isObject(content) && { json: true as const }),
  }
}

const isJson = (type: string): boolean => /^(application|text)\/([\w.+-]+\+)?json\b/i.test(type)
const RANKS: readonly RegExp[] = [
  /^application\/json\b/i,
  /json/i,
  /^application\/x-www-form-urlencoded/i,
  /^multipart\/form-data/i,
  /^text\/plain/i,
  /^application\/octet-stream/i,
  /./,
]

/** Chooses the content type to send if a document names several. */
function chosenType(types: readonly string[]): string | undefined {
  for (const rank of RANKS) {
    const found = types.find((type) => rank.test(type))
    if (found !== undefined) return found
  }
  return undefined
}

function bodyKind(type: string): OperationBody['kind'] {
  if (isJson(type)) return 'json'
  if (/^application\/x-www-form-urlencoded/i.test(type)) return 'form'
  return /^multipart\//i.test(type) ? 'multipart' : 'raw'
}

const deepFields = (encoding: Json | undefined): string[] =>
  Object.entries(isObject(encoding) ? encoding : {}).flatMap(([name, one]) =>
    isObject(one) && one.style === 'deepObject' ? [name] : [],
  )

function takeBodyOf(
  document: JsonObject,
  args: Arguments,
  about: {
    type: string
    schema: Json | undefined
    required: boolean
    encoding?: Json | undefined
    text?: Json | undefined
  },
): OperationBody {
  const kind = bodyKind(about.type)
  const description = shortText(about.text)
  const schema = kind === 'raw' ? { ...FILE_OR_TEXT } : formSchema(document, about.schema, kind === 'multipart')
  args.properties.body = { title: 'Body', ...schema, ...(description && { description }) }
  if (about.required) args.required.push('body')
  const deep = kind === 'form' ? deepFields(about.encoding) : []
  return { kind, contentType: about.type.includes('*') ? '' : about.type, ...(deep.length > 0 && { deep }) }
}

/** Reads the body of an OpenAPI 3 operation. */
export function readRequestBody(
  document: JsonObject,
  given: Json | undefined,
  args: Arguments,
): OperationBody | undefined {
  if (given === undefined) return undefined
  const body = resolved(document, given)
  if (body === undefined) throw new Unusable('its body is missing in the document')
  const content = isObject(body.content) ? body.content : {}
  const type = chosenType(Object.keys(content))
  if (type === undefined) return undefined
  const media = isObject(content[type]) ? content[type] : {}
  return takeBodyOf(document, args, {
    type,
    schema: media.schema,
    required: body.required === true,
    encoding: media.encoding,
    text: body.description,
  })
}

/**
 * Reads the body of a Swagger 2 operation: one parameter that is the body, or several that are the fields of a form.
 */
export function readSwagger2Body(
  document: JsonObject,
  parameters: readonly JsonObject[],
  consumes: readonly Json[],
  args: Arguments,
): OperationBody | undefined {
  const types = consumes.filter((type): type is string => typeof type === 'string')
  const whole = parameters.find((parameter) => parameter.in === 'body')
  if (whole)
    return takeBodyOf(document, args, {
      type: chosenType(types) ?? 'application/json',
      schema: whole.schema,
      required: whole.required === true,
      text: whole.description,
    })
  const fields = parameters.filter((parameter) => parameter.in === 'formData')
  if (fields.length === 0) return undefined
  const isMultipart = types.some((type) => /^multipart/i.test(type)) || fields.some(({ type }) => type === 'file')
  const required = fields.filter((field) => field.required === true).map(({ name }) => name as Json)
  return takeBodyOf(document, args, {
    type: isMultipart ? 'multipart/form-data' : 'application/x-www-form-urlencoded',
    schema: {
      type: 'object',
      properties: Object.fromEntries(
        fields.map((field) => [
          String(field.name),
          { ...describedHere(field), ...(field.description !== undefined && { description: field.description }) },
        ]),
      ),
      required,
    },
    required: required.length > 0,
  })
}
