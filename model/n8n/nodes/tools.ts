import type { Json, JsonObject, Node } from '#model/definition'
import { isObject } from '#model/json'
import { ofOne } from '../flow.ts'
import { NotConvertible } from '../js-ast.ts'
import { objectOf } from '../lenient.ts'
import { preludeOf } from '../prelude.ts'
import { withoutSecrets } from '../secrets.ts'
import type { Sink } from '../sink.ts'
import { type Attached, type Place, Step, type ToolCredential, type Work } from '../step.ts'
import { asRequest } from '../tool-request.ts'
import type { N8nNode } from '../types.ts'
import { isFilledByModel, MODEL_FILLS } from './service-call.ts'
import { isVectorStore, knowledgeOf, passagesOf } from './vector-stores.ts'

// Converts the tools attached to an agent to grants of `agent.run`. A node used as a tool is converted like the node
// itself; the model fills in the same values in both.

/** The grants of an agent, the instructions about them, and the credentials that the grants name. */
export type Tools = { grants: Json[]; mcp: JsonObject[]; texts: string[]; credentials: ToolCredential[] }

type Convert = (step: Step) => unknown

const kindOf = ({ type }: N8nNode): string => type.split('.').at(-1) ?? ''

/** Returns the description of a tool in n8n; an empty text if there is none. */
const aboutOf = ({ parameters: p }: N8nNode): string =>
  withoutSecrets(String(p.toolDescription ?? p.description ?? '').replace(/^=/, '')).text.slice(0, 400)

/** Requests that a model makes with only a query, by n8n tool. */
const SEARCHES: Record<string, { url: string; needsKey: boolean; method?: string }> = {
  toolSerpApi: { url: 'https://serpapi.com/search.json', needsKey: true },
  toolWikipedia: { url: 'https://en.wikipedia.org/w/api.php', needsKey: false },
  toolSearXng: { url: '', needsKey: false },
  perplexityTool: { url: 'https://api.perplexity.ai/chat/completions', needsKey: true, method: 'POST' },
  tavilyTool: { url: 'https://api.tavily.com/search', needsKey: true, method: 'POST' },
  firecrawlTool: { url: 'https://api.firecrawl.dev/v2/scrape', needsKey: true, method: 'POST' },
}

/** Node types that can be granted to agents; other nodes are computed outside of the agent. */
const TOOL_TYPES = new Set([
  ...['service.call', 'http.request', 'mail.send', 'state.get', 'state.set'],
  ...['warehouse.query', 'warehouse.execute', 'dataset.read', 'dataset.write'],
])

class Toolbox implements Tools {
  readonly grants: Json[] = []
  readonly mcp: JsonObject[] = []
  readonly texts: string[] = []
  readonly credentials: ToolCredential[] = []
  private readonly step: Step
  private readonly place: Place
  private readonly convert: Convert

  constructor(step: Step, place: Place, convert: Convert) {
    this.step = step
    this.place = place
    this.convert = convert
  }

  private grant(node: N8nNode, grant: JsonObject, note: string, credential?: ToolCredential): void {
    const same = this.grants.findIndex((one) => JSON.stringify(one) === JSON.stringify(grant))
    const at = same >= 0 ? same : this.grants.push(grant) - 1
    if (credential && same < 0) this.credentials.push({ ...credential, at: `/tools/${at}${credential.at}` })
    const about = aboutOf(node)
    this.texts.push(`${node.name}: ${note}${about === '' ? '' : `. ${about}`}`.slice(0, 800))
  }

  private server(node: N8nNode): void {
    const { parameters: p } = node
    const url = String(p.endpointUrl ?? p.sseEndpoint ?? '').replace(/^=/, '')
    if (!/^https?:\/\//.test(url) || url.includes('{{')) {
      this.step.remark(`the address of the server of "${node.name}" is also empty in n8n`)
      return
    }
    const [kind, name] = Object.entries(node.credentials)[0] ?? []
    const needs = p.authentication !== undefined && p.authentication !== 'none'
    const at = this.mcp.push({ url }) - 1
    if (needs)
      this.credentials.push({ name: name ?? node.name, kind: kind ?? String(p.authentication), at: `/mcp/${at}` })
  }

  private code(node: N8nNode): void {
    const { parameters: p } = node
    if (p.language === 'python') throw new NotConvertible('it is Python')
    const { text } = withoutSecrets(String(p.jsCode ?? ''))
    if (text.trim() === '') {
      this.step.remark(`"${node.name}" is also empty in n8n`)
      return
    }
    if (/\bfetch\s*\(|\baxios\b|\brequire\s*\(|\bthis\.helpers\b|\$\(|\$input\b/.test(text))
      throw new NotConvertible('its code makes requests, loads packages or reads other nodes')
    const source = `${preludeOf(text)}const query = typeof input === 'object' && input !== null && 'query' in input ? input.query : input\n${text}`
    this.grant(node, { type: 'code', arguments: { fixed: { source } } }, 'code, with your query as input')
  }

  private search(node: N8nNode, { url, needsKey, method = 'GET' }: (typeof SEARCHES)[string]): void {
    const [kind, name] = Object.entries(node.credentials)[0] ?? [kindOf(node), node.name]
    const credential = needsKey ? { name, kind, at: '/arguments/fixed' } : undefined
    const fixed = { method, url }
    this.grant(node, { type: 'http.request', arguments: { fixed } }, `http.request ${method} ${url}`, credential)
  }

  /** Converts the node that is used as a tool, outside of the workflow. */
  private asNode(node: N8nNode): void {
    const sink: Sink = { nodes: [], edges: [] }
    const credentials: Work['credentials'] = []
    const { step, place } = this
    const work: Work = { ...step.work, report: [], credentials, triggers: [] }
    const item = place.scope.input.paired()
    const plain = { ...node, type: node.type.replace(/Tool$/, '') }
    const input = { ...ofOne(item), same: step.input.same, aligned: new Map() }
    const inner = new Step(plain, input, [], [], sink, work, MODEL_FILLS)
    this.convert(inner)
    const [problem] = inner.notes.noted('by_hand')
    if (problem !== undefined) throw new NotConvertible(problem)
    for (const remark of inner.notes.noted('remark')) step.remark(`${node.name}: ${remark}`)
    if (sink.nodes.some(({ type }) => type === 'clarification')) throw new NotConvertible('it asks a person')
    if (sink.nodes.some(({ type }) => type === 'map')) throw new NotConvertible('it takes several steps')
    const moved = new Map<string, string | undefined>()
    const renamed = (value: Json): Json => {
      let text = JSON.stringify(value)
      for (const [from, to] of moved)
        text = text.replaceAll(
          new RegExp(`nodes\\.${from}\\.`, 'g'),
          to === undefined ? `${MODEL_FILLS}.` : `nodes.${to}.`,
        )
      return JSON.parse(text) as Json
    }
    for (const one of sink.nodes) {
      const args = renamed((one.args ?? {}) as JsonObject) as JsonObject
      if (this.isTool(one)) this.asGrant(node, one, args, credentials)
      else if (isFilledByModel(args)) moved.set(one.id, undefined)
      else moved.set(one.id, place.add(one.type, args, { isHelper: true }))
      if (this.isTool(one)) moved.set(one.id, undefined)
    }
  }

  private isTool({ type }: Node): boolean {
    return TOOL_TYPES.has(type)
  }

  private asGrant(node: N8nNode, made: Node, args: JsonObject, credentials: Work['credentials']): void {
    const wanted = credentials.find((one) => one.node.id === made.id)
    const isService = made.type === 'service.call'
    const given = isService ? objectOf(args.args) : args
    const fixed = Object.fromEntries(Object.entries(given).filter(([, value]) => !isFilledByModel(value)))
    const open = Object.entries(given).filter(([, value]) => isFilledByModel(value))
    const hints = open.map(([name, value]) => `${name} like ${shown(value)}`)
    const said = isService ? `${String(args.service)}.${String(args.action)}` : made.type
    this.grant(
      node,
      isService
        ? { service: args.service!, action: args.action!, arguments: { fixed } }
        : { type: made.type, arguments: { fixed } },
      `${said}${hints.length > 0 ? `, where you fill in ${hints.join('; ')}` : ''}`,
      wanted && { name: wanted.name, kind: wanted.kind, at: isService ? '' : '/arguments/fixed' },
    )
  }

  add({ node }: Attached): void {
    const type = kindOf(node)
    const { step } = this
    try {
      if (type === 'toolThink') step.remark(`"${node.name}" is left out: language models reason without a tool`)
      else if (type === 'toolCalculator') this.grant(node, { type: 'transform' }, 'transform')
      else if (type === 'mcpClientTool') this.server(node)
      else if (type === 'toolCode') this.code(node)
      else if (type === 'dateTimeTool')
        this.grant(
          node,
          { type: 'code', arguments: { fixed: { source: 'return new Date().toISOString()' } } },
          'code, the time now',
        )
      else if (type === 'agentTool') this.colleague(node)
      else if (type === 'toolWorkflow') this.workflow(node)
      else if (type === 'toolVectorStore' || isVectorStore(node)) this.knowledge(node)
      else if (Object.hasOwn(SEARCHES, type) && SEARCHES[type]!.url !== '') this.search(node, SEARCHES[type]!)
      else if (type === 'toolHttpRequest') this.asNode(asRequest(node))
      else if (type.endsWith('Tool')) this.asNode(node)
      else throw new NotConvertible('it has no counterpart as a tool of an agent')
    } catch (error) {
      if (!(error instanceof NotConvertible)) throw error
      step.byHand(`the tool "${node.name}" (${type}): ${error.message}`)
    }
  }

  private workflow({ name, parameters: p }: N8nNode): void {
    const id = isObject(p.workflowId) ? p.workflowId.value : p.workflowId
    const isOpen = (p.source ?? 'database') === 'database' && (typeof id !== 'string' || /^=?\s*$/.test(id))
    if (!isOpen) throw new NotConvertible('import the workflow that it runs too, then choose it here')
    this.step.remark(`the workflow of "${name}" is also empty in n8n`)
  }

  private knowledge(node: N8nNode): void {
    const below = this.step.work.attached(node.name).find(({ kind }) => kind === 'ai_vectorStore')?.node
    const store = isVectorStore(node) ? node : below
    if (!store) {
      this.step.remark(`the store of "${node.name}" is also empty in n8n`)
      return
    }
    const fixed = { knowledge_id: knowledgeOf(this.step, store), limit: passagesOf(node.parameters) }
    this.grant(node, { type: 'knowledge.search', arguments: { fixed } }, 'knowledge.search, with your question as q')
  }

  /** Moves the instructions and tools of an agent that is attached to another agent to that agent. */
  private colleague(node: N8nNode): void {
    const system = String(objectOf(node.parameters.options).systemMessage ?? '').replace(/^=/, '')
    if (system.includes('{{')) throw new NotConvertible('its instructions are computed')
    this.step.remark(
      `the agent "${node.name}" is not a separate agent here: its instructions and tools are added to the agent above it`,
    )
    this.texts.push(`As ${node.name} (${aboutOf(node)}): ${withoutSecrets(system).text}`.slice(0, 6_000))
    for (const one of this.step.work.attached(node.name))
      if (one.kind === 'ai_tool' && !one.node.disabled) this.add(one)
  }
}

const shown = (value: Json): string =>
  JSON.stringify(value)
    .replaceAll(/\{"\$(?:ref|cel)":"((?:[^"\\]|\\.)*)"\}/g, '<$1>')
    .replaceAll(
      new RegExp(
        `nodes\\.[a-z0-9_]+\\.output|${MODEL_FILLS}\\??\\.|\\.orValue\\(null\\)|\\.orElse\\([^)]*\\)|input\\.`,
        'g',
      ),
      '',
    )
    .slice(0, 200)

/** Converts the tools. `convert` converts the node of a step to Heddle nodes. */
export function toolsOf(step: Step, place: Place, attached: readonly Attached[], convert: Convert): Tools {
  const box = new Toolbox(step, place, convert)
  for (const one of attached) box.add(one)
  const { grants, mcp, texts, credentials } = box
  return { grants, mcp, texts, credentials }
}
