import type { NodeDescriptor } from '#model/node'
import { describeAccess } from '#platform/access/rules'
import { settings } from '#platform/config'
import { gapsOf, makeOpenApi } from '#platform/http/openapi/document'
import type { AnyRoute } from '#platform/http/route'
import { printMailWords } from './mail-words.ts'
import { printNodes } from './node-reference.ts'
import { printNodeTexts } from './node-texts.ts'
import { printSdk } from './sdk.ts'
import { serviceDocuments } from './service-reference.ts'
import { printServiceTexts } from './service-texts.ts'
import { printWorkflowNodes } from './workflow-nodes.ts'

// The documents that are generated from the program. After a change of a route table, a setting or a node, generate
// them again with `npm run generate`; a test fails until then.

const braces = (path: string): string => path.replaceAll(/:(\w+)/g, '{$1}')

/** Computes a document once per program, even if it is printed twice. */
function once<T>(print: (app: Described) => T): (app: Described) => T {
  const known = new WeakMap<Described, T>()
  return (app) => {
    const printed = known.get(app) ?? print(app)
    known.set(app, printed)
    return printed
  }
}

export const printOpenApi = once(({ routes, nodes }: Described): string => {
  const document = makeOpenApi(routes, nodes.values())
  const gaps = gapsOf(document)
  if (gaps.length > 0) throw new Error(`the OpenAPI document is not complete:\n${gaps.join('\n')}`)
  return `${JSON.stringify(document, null, 1)}\n`
})

const sdkOf = once((app) => printSdk(printOpenApi(app)))

export function printAccess(routes: AnyRoute[]): string {
  const areas = [...new Set(routes.map(({ area }) => area))].sort()
  const sections = areas.map((area) => {
    const rows = routes
      .filter((route) => route.area === area)
      .map(
        (route) =>
          `| ${route.method} | \`${braces(route.path)}\` | ${route.operation}${route.extension ? ' (addition)' : ''} | ${describeAccess(route.access)} | ${route.scope === null ? '' : `\`${route.scope}\``} |`,
      )
    return `## ${area}\n\n| method | path | operation | who | scope |\n|---|---|---|---|---|\n${rows.join('\n')}\n`
  })
  return `# Who may call what

Printed from the route tables by \`npm run generate\`. Refusals come in the order 401 (no or a bad credential), 404 (unknown, of another workspace, or
not visible to the caller), 403 (visible, but not allowed by the role), 422. "(addition)" marks operations beyond the base interface. The scope is what an API key with
scopes needs ([docs/api-keys.md](api-keys.md)); without it the answer is 403 \`insufficient_scope\`.

${sections.join('\n')}`
}

export function printSettings(): string {
  const rows = Object.entries(settings).map(
    ([name, { shown, meaning, parser }]) =>
      `| \`${name}\` | ${shown} | ${meaning}. Allowed: ${parser.allowed.replaceAll('|', '\\|')} |`,
  )
  return `# Settings

Printed from the program by \`npm run generate\`. All settings are environment variables and are read once at the start. If a value is not valid, the program names the setting and does not start.
\`--role all|api|worker\` chooses which part of the program runs; \`--help\` prints the arguments and the settings. An unknown argument is refused, and a variable
that starts with \`HEDDLE_\` and is no setting is named at the start, as are settings that are not complete.

| name | default | meaning |
|---|---|---|
${rows.join('\n')}
`
}

/** The source of the documents: a program that is wired but need not listen. */
export type Described = { routes: AnyRoute[]; nodes: ReadonlyMap<string, NodeDescriptor> }

export const documents: Record<string, (app: Described) => string> = {
  'openapi.json': printOpenApi,
  'docs/access.md': ({ routes }) => printAccess(routes),
  'docs/settings.md': printSettings,
  'web/words/nodes.generated.json': ({ nodes }) => printNodeTexts(nodes.values()),
  'web/words/services.generated.json': printServiceTexts,
  'server/platform/mail-words.generated.json': printMailWords,
  'docs/nodes.md': ({ nodes }) => printNodes(nodes.values()),
  'sdk/types.generated.ts': (app) => sdkOf(app).types,
  'sdk/operations.generated.ts': (app) => sdkOf(app).operations,
  'sdk/workflows/nodes.generated.ts': ({ nodes }) => printWorkflowNodes(nodes.values()),
  ...serviceDocuments(),
}
