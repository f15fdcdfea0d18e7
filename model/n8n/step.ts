import type { Json, JsonObject, Node } from '../definition.ts'
import { chosenOf, type Exit, type Flow, flattened, ofOne, outputOf } from './flow.ts'
import { handlingOf, retryOnly } from './handling.ts'
import { NotConvertible } from './js-ast.ts'
import { Notes } from './notes.ts'
import { celOut, fieldsOut, type HelperPlace, member, type Out, pathOut, quote, toValue, type View } from './out.ts'
import { celOf, jsonOf, missing } from './parameters.ts'
import type { Scope } from './scope.ts'
import { withoutSecrets } from './secrets.ts'
import { connect, type Sink } from './sink.ts'
import type { Catalogue, N8nNode, ReportLine } from './types.ts'

/** A node attached to another node: the model, the tools and the memory of an agent. */
export type Attached = { kind: string; node: N8nNode }

/** A credential named inside the arguments of a node, at this pointer. */
export type ToolCredential = { name: string; kind: string; at: string }

/** The state of the conversion of a whole workflow. */
export type Work = {
  workflowName: string
  services: Catalogue
  uniqueId(name: string): string
  report: ReportLine[]
  credentials: (ToolCredential & { node: Node })[]
  triggers: { kind: string; node: string; about: string; settings: JsonObject }[]
  attached(name: string): Attached[]
  /** Converts the node of a step to Heddle nodes. */
  convert(step: Step): void
  /** Returns the result of another n8n node at this place; throws if that node cannot have run before. */
  view(name: string): { exits: Exit[]; flow: Flow }
  /** Returns the names of the n8n nodes that can have run before. */
  names(): string[]
}

/** The place where one item is processed: the graph itself, or the body of a map. */
export type Place = { scope: Scope; add(type: string, args: JsonObject, options?: AddOptions): string }
type AddOptions = {
  credential?: { name: string; kind: string } | undefined
  name?: string
  /** What happens if the node fails, in place of the settings of the n8n node. */
  handling?: Pick<Node, 'on_error'>
  /** More credentials, inside the arguments. */
  inside?: readonly ToolCredential[]
  /**
   * The node only computes something for the n8n node: it gets neither the id nor the error handling of the n8n node.
   */
  isHelper?: boolean
}

const HELPERS = new Set(['set', 'branch', 'code', 'transform'])

/** The conversion of one n8n node. */
export class Step {
  readonly node: N8nNode
  readonly id: string
  readonly input: Flow
  readonly inputs: readonly (readonly Exit[])[]
  readonly sink: Sink
  readonly work: Work
  /** If the node is a tool: the name under which expressions find the values that the model fills in. */
  private readonly filledByModel: string | undefined
  private readonly entries: readonly Exit[]
  private isConnected = false
  private isThere = false
  readonly notes = new Notes()

  constructor(
    node: N8nNode,
    input: Flow,
    inputs: readonly (readonly Exit[])[],
    entries: readonly Exit[],
    sink: Sink,
    work: Work,
    filledByModel?: string,
  ) {
    this.node = node
    this.input = input
    this.inputs = inputs
    this.entries = entries
    this.sink = sink
    this.work = work
    this.filledByModel = filledByModel
    this.id = work.uniqueId(node.name)
  }

  get p(): JsonObject {
    return this.node.parameters
  }

  remark(why: string): void {
    this.notes.remark(why)
  }

  byHand(why: string): void {
    this.notes.byHand(why)
  }

  finish(): void {
    const { name, type } = this.node
    this.work.report.push({ node: name, type, ...this.notes.outcome() })
  }

  /** Returns what expressions can read if `item` is the current item. */
  scope(
    item: Out | undefined = this.input.one,
    index: Out = celOut('0', 'number'),
    place: HelperPlace = { add: (type, args) => this.add(type, args, { isHelper: true }) },
  ): Scope {
    const current = (): Out => item ?? this.onlyOf(this.input.list, 'the input')
    const { work, input } = this
    return {
      input: { one: input.one, list: input.list, paired: current },
      index,
      workflowName: work.workflowName,
      remark: (why) => this.remark(why),
      place,
      filledByModel: (name) => {
        if (this.filledByModel !== undefined) return { ...pathOut(['vars', this.filledByModel, name]) }
        if (!this.node.isTool) throw new NotConvertible('$fromAI lets a model fill in an argument')
        return member(current(), name)
      },
      node: (name) => this.viewOf(name, current, index),
    }
  }

  private viewOf(name: string, current: () => Out, index: Out): View {
    const { flow, exits } = this.work.view(name)
    const paired = (): Out => {
      if (flow.one) return flow.one
      if (this.input.same.has(name)) return current()
      const position = this.input.aligned.get(name)
      if (position) {
        const at = position(index.cel)
        return /^\d+$/.test(at) ? member(flow.list, Number(at)) : celOut(`${flow.list.cel}[?${at}].orValue(null)`)
      }
      return this.onlyOf(flow.list, `"${name}"`)
    }
    const ran = exits[0] ? celOut(`(${outputOf(exits[0].node).cel} != null)`, 'bool') : undefined
    return { one: flow.one, list: flow.list, paired, ran }
  }

  /**
   * Returns the only item of a list. If there are several, it is not known which item is meant, so the execution fails
   * instead of using any.
   */
  private onlyOf(list: Out, what: string): Out {
    this.remark(`the item of ${what} is read if there is exactly one; with several items the run fails here`)
    return celOut(`cel.bind(v, ${list.cel}, size(v) == 1 ? v[0] : [][1])`)
  }

  /** Converts a parameter with all nested values. Literal keys and tokens are removed. */
  value(raw: Json | undefined, scope: Scope, field = ''): Json {
    return jsonOf(raw, scope, this.notes, field)
  }

  /** Converts a parameter as `value` does, to CEL. */
  out(raw: Json | undefined, scope: Scope, field = ''): Out {
    return celOf(raw, scope, this.notes, field)
  }

  text(raw: Json | undefined, scope: Scope, field: string): Json {
    const value = this.value(raw ?? '', scope, field)
    return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
  }

  /**
   * Returns the value of a parameter that the template does not fill in. The execution fails there until it is filled
   * in, as in n8n.
   */
  unfilled(what: string): Json {
    this.remark(`${what} is also empty in n8n`)
    return { $cel: `dyn(${quote(`To be filled in: ${what}`)}).value()` }
  }

  /** Adds a node to the graph; the incoming connections lead to the first node. */
  add(type: string, args: JsonObject, options: AddOptions = {}): string {
    const { credential, name, handling, inside = [], isHelper = false } = options
    const before = this.sink.nodes.at(-1)?.id
    const isOwn = !this.isThere && !isHelper
    const id = isOwn ? this.id : this.work.uniqueId(`${this.id}_${isHelper ? 'value' : type.split('.').at(-1)}`)
    const node: Node = {
      id,
      type,
      name: (name ?? this.node.name).slice(0, 200),
      args,
      ...(isHelper || (HELPERS.has(type) && type !== 'code') ? {} : (handling ?? handlingOf(this.node, type))),
    }
    this.sink.nodes.push(node)
    if (credential) this.work.credentials.push({ ...credential, at: '', node })
    for (const one of inside) this.work.credentials.push({ ...one, node })
    if (isOwn) this.isThere = true
    if (this.isConnected) this.sink.edges.push({ from: { node: before! }, to: id })
    else connect(this.sink, this.entries, id)
    this.isConnected = true
    return id
  }

  exit(flow: Pick<Flow, 'one' | 'list'> & Partial<Flow>, more: Partial<Exit> = {}): Exit {
    return {
      same: new Set([this.node.name]),
      aligned: new Map(),
      ...flow,
      node: this.sink.nodes.at(-1)?.id ?? this.id,
      chosen: chosenOf(this.entries),
      ...more,
    }
  }

  /** Returns the input items unchanged. */
  passed(more: Partial<Flow> = {}): Flow {
    const { input } = this
    return { ...input, same: new Set([...input.same, this.node.name]), ...more }
  }

  /**
   * Processes each item: with nodes of the graph if there is exactly one item, otherwise in the body of a map. `many`:
   * an item may become several items.
   */
  each(build: (place: Place) => Out, { many = false, onlyFirst = false } = {}): Exit[] {
    const { input } = this
    const once = onlyFirst || this.node.settings.executeOnce === true
    const only = input.one ?? (once ? member(input.list, 0) : undefined)
    return only ? this.once(only, build, many) : this.mapped(build, many)
  }

  private once(only: Out, build: (place: Place) => Out, many: boolean): Exit[] {
    const scope = this.scope(only)
    const made = build({ scope, add: (type, args, options) => this.add(type, args, options) })
    const flow = many
      ? { list: celOut(`(${outputOf(this.sink.nodes.at(-1)!.id).cel} == null ? [] : [${made.cel}].flatten())`, 'list') }
      : ofOne(made)
    const main = this.exit({ ...flow, aligned: new Map() })
    if (this.node.settings.onError !== 'continueErrorOutput') return [main]
    const failing = this.sink.nodes.find(({ id }) => id === this.id)!
    const key = `${failing.id}!`
    const error = this.exit(ofOne(fieldsOut({ error: outputOf(failing.id) })), { node: failing.id, port: 'error' })
    return [
      { ...main, chosen: new Map([...main.chosen, [key, 'out']]) },
      { ...error, chosen: new Map([...error.chosen, [key, 'error']]) },
    ]
  }

  /** Adds the error port if the converted node has none yet. */
  withError(exits: Exit[]): Exit[] {
    if (this.node.settings.onError !== 'continueErrorOutput' || exits.length !== 1 || this.node.disabled) return exits
    const failing = this.sink.nodes.find(({ id }) => id === this.id)
    const error = this.exit(ofOne(fieldsOut({ error: outputOf(this.id) })), { node: this.id })
    if (failing?.on_error !== 'route') return [...exits, { ...error, when: 'false' }]
    return [...exits, { ...error, port: 'error' }]
  }

  private mapped(build: (place: Place) => Out, many: boolean): Exit[] {
    const { input, work, id } = this
    const body: Sink = { nodes: [], edges: [] }
    const add: Place['add'] = (type, args, { credential, name, handling, inside = [] } = {}) => {
      const inner: Node = {
        id: work.uniqueId(`${id}_${body.nodes.length === 0 ? 'each' : type.split('.').at(-1)}`),
        type,
        args,
        ...(name && { name: name.slice(0, 200) }),
        ...(HELPERS.has(type) ? {} : (handling ?? retryOnly(handlingOf(this.node, type)))),
      }
      const before = body.nodes.at(-1)
      if (before) body.edges.push({ from: { node: before.id }, to: inner.id })
      body.nodes.push(inner)
      if (credential) work.credentials.push({ ...credential, at: '', node: inner })
      for (const one of inside) work.credentials.push({ ...one, node: inner })
      return inner.id
    }
    const made = build({ scope: this.scope(pathOut(['item']), pathOut(['index'], 'number'), { add }), add })
    const { onError, continueOnFail } = this.node.settings
    const collects = continueOnFail === true || onError === 'continueRegularOutput' || onError === 'continueErrorOutput'
    const graph = { nodes: body.nodes, edges: body.edges, output: this.guarded(made) } as unknown as JsonObject
    this.add('map', { items: this.guarded(input.list), body: graph, ...(collects && { on_item_error: 'collect' }) })
    delete this.sink.nodes.at(-1)!.on_error
    delete this.sink.nodes.at(-1)!.retry
    const whole = outputOf(id)
    const aligned = new Map(
      many ? [] : [...input.aligned, ...[...input.same].map((name) => [name, (index: string) => index] as const)],
    )
    const list = many ? flattened(whole) : { ...whole, type: 'list' as const }
    if (onError !== 'continueErrorOutput') return [this.exit({ list, aligned })]
    const isError = '(type(x) == map && "error" in x)'
    return [
      this.exit({ list: celOut(`${flattened(whole).cel}.filter(x, !${isError})`, 'list') }),
      this.exit({ list: celOut(`${flattened(whole).cel}.filter(x, ${isError})`, 'list') }),
    ]
  }

  /** Returns the expression as a value; a value that becomes too long is to be done by hand. */
  guarded(of: Out): Json {
    try {
      return toValue(of)
    } catch (error) {
      if (error instanceof NotConvertible) return missing(of.cel, error, this.notes)
      throw error
    }
  }

  /**
   * Adds a placeholder for a node that cannot be converted: the execution fails there with a message about what is
   * missing.
   */
  placeholder(why: string, isOpen = false): Exit[] {
    if (isOpen) this.remark(`${why} in n8n either`)
    else this.byHand(why)
    const message = `To do by hand: ${this.node.name} (${this.node.type}). ${why}`.slice(0, 500)
    this.add('code', {
      source: `throw new Error(${JSON.stringify(withoutSecrets(message).text)})`,
      input: this.guarded(this.input.list),
    })
    const list = celOut(`[${outputOf(this.id).cel}].flatten()`, 'list')
    const exit = this.exit(this.input.one ? ofOne(outputOf(this.id)) : { list, aligned: this.passed().aligned })
    // The execution ends here, no matter which ports the node had.
    return Array.from({ length: 20 }, () => exit)
  }
}
