import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { serviceCatalogue } from '#providers/services/catalogue'
import type { Service, ServiceAction } from '#providers/services/manifest'

// docs/services/: all services and actions, printed from the manifests.

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

function typeOf(schema: Json | undefined): string {
  if (!isObject(schema)) return 'any'
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => `\`${value}\``).join(', ')
  if (isObject(schema.properties) && '$file' in schema.properties) return 'file'
  if (Array.isArray(schema.anyOf)) return schema.anyOf.map(typeOf).join(' or ')
  if (schema.type === 'array') return schema.items === undefined ? 'list' : `list of ${typeOf(schema.items)}`
  const format = typeof schema.format === 'string' ? ` (${schema.format})` : ''
  return typeof schema.type === 'string' ? schema.type + format : 'any'
}

const EFFECTS: Record<ServiceAction['effect'], string> = {
  read: 'reads',
  idempotent: 'may be repeated',
  write: 'at most once',
}

function printAction({ name, title, description, effect, args_schema, method, path, paginate }: ServiceAction): string {
  const required = args_schema.required as string[]
  const rows = Object.entries(args_schema.properties as Record<string, JsonObject>).map(([field, schema]) => {
    const about = [
      schema.description,
      schema.default === undefined ? '' : `Default \`${JSON.stringify(schema.default)}\`.`,
    ]
    const words = about.filter((text) => typeof text === 'string' && text !== '').join(' ')
    return `| \`${field}\` | ${cell(typeOf(schema))} | ${required.includes(field) ? 'yes' : ''} | ${cell(words)} |`
  })
  const table =
    rows.length === 0 ? '' : `\n| argument | type | required | meaning |\n|---|---|---|---|\n${rows.join('\n')}\n`
  const more = description === title ? '' : ` ${description}`
  const output = paginate ? ' The output is `{items, more}`.' : ''
  return `### \`${name}\`: ${title}\n\n\`${method} ${path}\`, ${EFFECTS[effect]}.${more}${output}\n${table}`
}

function printTriggers({ triggers, hooks }: Service): string {
  if (triggers.size + hooks.size === 0) return ''
  const rows = [...triggers.values(), ...hooks.values()].map(({ name, title, description, args_schema }) => {
    const required = args_schema.required as string[]
    const args = Object.keys(args_schema.properties as JsonObject).map(
      (arg) => `\`${arg}\`${required.includes(arg) ? '' : '?'}`,
    )
    const about = description === title ? title : `${title}. ${description}`
    return `| \`${name}\` | ${cell(about)} | ${args.join(', ')} |`
  })
  return `\n## Triggers\n\n| trigger | starts a workflow with | arguments |\n|---|---|---|\n${rows.join('\n')}\n`
}

function printService(service: Service): string {
  const { title, description, reference, credentials, credential_optional } = service
  const needed =
    credentials.length === 0
      ? 'It takes no credential.'
      : `It ${credential_optional ? 'may take' : 'takes'} a credential for ${credentials.map((name) => `\`${name}\``).join(' or ')}.`
  const actions = [...service.actions.values()].filter(({ hidden }) => !hidden)
  return `# ${title}

Printed from the manifest by \`npm run generate\`. ${description} ${needed} The vendor's reference: <${reference}>.

${actions.map(printAction).join('\n')}${printTriggers(service)}`
}

function printIndex(services: readonly Service[]): string {
  const shown = (service: Service): number => [...service.actions.values()].filter(({ hidden }) => !hidden).length
  const rows = services.map(
    (service) =>
      `| [${service.title}](${service.service}.md) | \`${service.service}\` | ${shown(service)} | ${service.triggers.size + service.hooks.size} | ${cell(service.description)} |`,
  )
  const total = services.reduce((sum, service) => sum + shown(service), 0)
  const triggers = services.reduce((sum, service) => sum + service.triggers.size + service.hooks.size, 0)
  return `# All services

Printed from the manifests by \`npm run generate\`: ${services.length} services with ${total} actions and ${triggers} triggers. [How they are used](../services.md).

| service | name | actions | triggers | what it is |
|---|---|---|---|---|
${rows.join('\n')}
`
}

/** Returns the text of every page, by path. */
export function serviceDocuments(): Record<string, () => string> {
  const services = [...serviceCatalogue().values()].sort((a, b) => (a.title < b.title ? -1 : 1))
  return {
    'docs/services/README.md': () => printIndex(services),
    ...Object.fromEntries(
      services.map((service) => [`docs/services/${service.service}.md`, () => printService(service)]),
    ),
  }
}
