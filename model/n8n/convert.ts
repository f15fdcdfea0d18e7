import type { Json } from '../definition.ts'
import { accepted, credentialsOf, inputsOf, layoutOf } from './finish.ts'
import { areExclusive, chosenOf, commonSame, type Exit, type Flow, ofOne, orEmpty, outputOf } from './flow.ts'
import { NotConvertible, NotFilled } from './js-ast.ts'
import { convertCycle, convertLoop, type Known, type LoopHost } from './loops.ts'
import { handlerOf } from './nodes/table.ts'
import { isReserved, pathOut, toValue } from './out.ts'
import { isNote, type Plan, planOf } from './plan.ts'
import { withoutSecrets } from './secrets.ts'
import { connect, type Sink } from './sink.ts'
import { Step, type Work } from './step.ts'
import type { Converted, ConvertOptions, N8nNode, N8nWorkflow } from './types.ts'

const START = 'what_started'

/**
 * Converts an n8n workflow to a Heddle workflow. The report names each node without a counterpart; an execution fails
 * at that node.
 */
export function convertN8n(workflow: N8nWorkflow, options: ConvertOptions): Converted {
  const conversion = new Conversion(workflow, options)
  return conversion.run()
}

class Conversion implements LoopHost {
  private readonly workflow: N8nWorkflow
  private readonly options: ConvertOptions
  readonly plan: Plan
  readonly known = new Map<string, Known>()
  readonly earlier = new Map<string, Flow>()
  private readonly texts: ReadonlyMap<string, string>
  private readonly ids = new Set<string>([START])
  private readonly work: Work
  /** The nodes before the node that is being converted. */
  before: ReadonlySet<string> = new Set()

  constructor(workflow: N8nWorkflow, options: ConvertOptions) {
    this.workflow = workflow
    this.options = options
    this.plan = planOf(workflow)
    this.texts = new Map(workflow.nodes.map(({ name, parameters }) => [name, JSON.stringify(parameters)]))
    this.work = {
      workflowName: workflow.name,
      services: options.services,
      uniqueId: (name) => this.uniqueId(name),
      report: [],
      credentials: [],
      triggers: [],
      attached: (name) => attachedTo(workflow, name),
      convert: (step) => {
        convertWith(step)
      },
      view: (name) => this.view(name),
      names: () => [...this.before].filter((name) => this.known.has(name)),
    }
  }

  /** Checks whether an expression or code of another node names this node. */
  isRead(name: string, except: ReadonlySet<string> = new Set()): boolean {
    const plain = JSON.stringify(name).slice(1, -1)
    const marks = [`'${plain}'`, `\\"${plain}\\"`, `\`${plain}\``, `$node.${plain}`]
    return [...this.texts].some(([node, text]) => !except.has(node) && marks.some((mark) => text.includes(mark)))
  }

  uniqueId(name: string): string {
    const plain = name
      .normalize('NFKD')
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '_')
      .replaceAll(/^_+|_+$/g, '')
      .slice(0, 40)
    const base =
      plain === ''
        ? 'node'
        : isReserved(plain)
          ? `${plain}_node`
          : plain in Object.prototype || /^\d/.test(plain)
            ? `n_${plain}`
            : plain
    let id = base
    for (let number = 2; this.ids.has(id); number += 1) id = `${base}_${number}`
    this.ids.add(id)
    return id
  }

  private view(name: string): { exits: Exit[]; flow: Flow } {
    const found = this.known.get(name)
    if (!this.plan.nodes.has(name)) throw new NotFilled(`there is no node "${name.slice(0, 80)}"`)
    const earlier = this.earlier.get(name)
    if (earlier && !this.before.has(name)) return { exits: [], flow: earlier }
    if (!found || !this.before.has(name))
      throw new NotConvertible(`"${name.slice(0, 80)}" has not run before, or runs inside a loop`)
    return found
  }

  run(): Converted {
    const sink: Sink = { nodes: [], edges: [] }
    if (this.plan.triggers.length > 1) this.addStart(sink)
    this.region(this.plan.top, sink, new Set())
    for (const { from, to } of this.plan.dropped) this.reportDropped(from, to)
    for (const name of this.plan.unreachable) {
      const { type } = this.plan.nodes.get(name)!
      this.work.report.push({ node: name, type, outcome: 'remark', why: 'no trigger leads to it, so it is left out' })
    }
    const notes = this.workflow.nodes
      .filter(isNote)
      .map(({ parameters }) => withoutSecrets(String(parameters.content ?? '')).text.slice(0, 5_000))
    const output = this.output()
    const graph = { nodes: sink.nodes, edges: sink.edges, ...(output !== undefined && { output }) }
    const inputs = inputsOf(this.work)
    const definition = accepted(
      { ...(inputs && { inputs }), ...graph, layout: layoutOf(this.workflow, notes) },
      this.options,
      this.work,
    )
    return {
      name: this.workflow.name,
      definition,
      notes,
      credentials: credentialsOf(definition, this.work),
      triggers: this.work.triggers,
      report: this.work.report,
    }
  }

  /**
   * Returns the output of the last nodes: the item or items of a single last node, or the outputs of all last nodes by
   * id.
   */
  private output(): Json | undefined {
    const last = [...this.plan.top].flatMap((name) =>
      this.plan.from(name).length === 0 ? (this.known.get(name)?.exits.slice(0, 1) ?? []) : [],
    )
    const values = last.slice(0, 20).flatMap(({ node, one, list }) => {
      const value = one ?? list
      return value.cel.length < 1_000 ? [[node, toValue(value)] as const] : []
    })
    return values.length === 1 ? values[0]![1] : values.length === 0 ? undefined : Object.fromEntries(values)
  }

  private reportDropped(from: string, to: string): void {
    const why = `the connection from "${from.slice(0, 80)}" to "${to.slice(0, 80)}" creates a cycle or leaves a loop: use a loop node instead`
    const line = this.work.report.find(({ node }) => node === from)
    if (!line) return
    line.why = line.outcome === 'by_hand' ? `${line.why}; ${why}` : why
    line.outcome = 'by_hand'
  }

  /**
   * Adds the branch that selects a trigger. Only one trigger starts an n8n execution: `input.start` names it; the
   * default is the first.
   */
  private addStart(sink: Sink): void {
    const [, ...others] = this.plan.triggers
    const cases = others.map((name) => ({
      port: this.portOf(name),
      when: { $cel: `input?.start.orValue("") == ${JSON.stringify(this.portOf(name))}` },
    }))
    sink.nodes.push({ id: START, type: 'branch', name: 'What started it', args: { cases: cases.slice(0, 50) } })
  }

  private portOf(trigger: string): string {
    return `trigger_${this.plan.triggers.indexOf(trigger) + 1}`
  }

  region(
    names: ReadonlySet<string>,
    sink: Sink,
    before: ReadonlySet<string>,
    entries: ReadonlyMap<string, Exit[]> = new Map(),
    open?: string,
  ): void {
    for (const name of this.plan.order(names, open)) {
      const node = this.plan.nodes.get(name)!
      const edges = this.plan.into(name).filter(({ from }) => this.plan.bodies.get(name)?.has(from) !== true)
      const arriving = edges.flatMap(({ from, port, slot }) => {
        const exit = this.known.get(from)?.exits[port]
        return exit && (names.has(from) || !entries.has(name)) ? [{ slot, exit }] : []
      })
      const given = entries.get(name) ?? []
      const slots = Math.max(0, ...arriving.map(({ slot }) => slot)) + 1
      const inputs = Array.from({ length: Math.min(slots, 10) }, (_, slot) =>
        arriving.filter((one) => one.slot === slot).map(({ exit }) => exit),
      )
      const exits = [...given, ...arriving.map(({ exit }) => exit)]
      const isRoot = edges.length === 0 && given.length === 0
      if (exits.length === 0 && !isRoot) {
        this.work.report.push({
          node: name,
          type: node.type,
          outcome: 'by_hand',
          why: 'a node before it could not be converted',
        })
        continue
      }
      this.before = new Set([
        ...before,
        ...edges.flatMap(({ from }) => [from, ...(this.known.get(from)?.before ?? [])]),
      ])
      const seen = this.before
      this.known.set(name, {
        ...this.convertNode(node, exits, [[...given, ...(inputs[0] ?? [])], ...inputs.slice(1)], sink, isRoot, open),
        before: seen,
        ...this.ofCircle(name, open),
      })
    }
  }

  /** Returns the result of the entry node of a cycle, which the conversion of the cycle has already set. */
  private ofCircle(name: string, open: string | undefined): Partial<Known> {
    return name !== open && this.plan.cycles.has(name) ? this.known.get(name)! : {}
  }

  private convertNode(
    node: N8nNode,
    exits: Exit[],
    inputs: Exit[][],
    sink: Sink,
    isRoot: boolean,
    open: string | undefined,
  ): { exits: Exit[]; flow: Flow } {
    const entries =
      isRoot && this.plan.triggers.length > 1 && this.plan.triggers.includes(node.name)
        ? [this.startExit(node.name)]
        : exits
    const isMerge = node.type.endsWith('.merge')
    const joined = isRoot || isMerge || exits.length < 2 ? undefined : this.joined(exits, sink, node)
    const input = joined ?? exits[0] ?? rootFlow()
    const cycle = node.name === open ? undefined : this.plan.cycles.get(node.name)
    if (cycle) {
      const outer = new Step({ ...node, settings: {} }, input, inputs, joined ? [joined] : entries, sink, this.work)
      convertCycle(outer, cycle, this)
      return { exits: [], flow: input }
    }
    const step = new Step(node, input, inputs, joined ? [joined] : entries, sink, this.work)
    const found = node.disabled
      ? this.skipped(step)
      : this.plan.bodies.has(node.name)
        ? convertLoop(step, this)
        : convertWith(step)
    step.finish()
    const flow = found[0] ?? step.passed()
    return { exits: step.withError(found), flow }
  }

  private startExit(name: string): Exit {
    const port = this.plan.triggers[0] === name ? 'default' : this.portOf(name)
    return { ...rootFlow(), node: START, port, chosen: new Map([[START, port]]) }
  }

  /** Joins several connections in a separate node. */
  private joined(given: Exit[], sink: Sink, { name }: N8nNode): Exit {
    const exits = [...given].sort(deepestFirst)
    const same = commonSame(exits)
    const id = this.uniqueId(`${name}_input`)
    const isOne = exits.every(({ one }) => one) && areExclusive(exits)
    const values: Json = isOne
      ? {
          item: {
            $cel: exits
              .slice(0, -1)
              .reduceRight((rest, exit) => `(${ranOf(exit)} ? ${exit.one!.cel} : ${rest})`, exits.at(-1)!.one!.cel),
          },
        }
      : { items: { $cel: exits.map(orEmpty).join(' + ') } }
    sink.nodes.push({ id, type: 'set', name: `Input of ${name}`.slice(0, 200), args: { values } })
    connect(sink, exits, id)
    const flow: Flow = isOne
      ? { ...ofOne(pathOut(['nodes', id, 'output', 'item'])), same, aligned: new Map() }
      : { list: pathOut(['nodes', id, 'output', 'items'], 'list'), same, aligned: new Map() }
    return { ...flow, node: id, chosen: chosenOf(exits) }
  }

  private skipped(step: Step): Exit[] {
    step.remark('it is disabled in n8n, so items skip it')
    const flow = step.passed()
    step.add('set', { values: flow.one ? { item: step.guarded(flow.one) } : { items: step.guarded(flow.list) } })
    const out = pathOut(['nodes', step.id, 'output', flow.one ? 'item' : 'items'])
    return [step.exit({ ...flow, ...(flow.one ? ofOne(out) : { list: { ...out, type: 'list' } }) })]
  }
}

/**
 * A branch has an output no matter which port it left by, so the output does not show the port. Exits of nodes after
 * its ports are therefore tested first.
 */
const deepestFirst = (a: Exit, b: Exit): number =>
  Number(a.port !== undefined) - Number(b.port !== undefined) || b.chosen.size - a.chosen.size
const ranOf = ({ node }: Exit): string => `${outputOf(node).cel} != null`

const rootFlow = (): Flow => ({ ...ofOne(pathOut(['input'])), same: new Set(), aligned: new Map() })

function convertWith(step: Step): Exit[] {
  try {
    return handlerOf(step)(step)
  } catch (error) {
    if (error instanceof NotConvertible) return step.placeholder(error.message, error instanceof NotFilled)
    throw error
  }
}

/** Returns the nodes attached to another node, such as the tools of an agent. */
const attachedTo = ({ nodes, edges }: N8nWorkflow, name: string): { kind: string; node: N8nNode }[] =>
  edges
    .filter(({ to, kind }) => to === name && kind !== 'main')
    .flatMap(({ from, kind }) => nodes.filter((node) => node.name === from).map((node) => ({ kind, node })))
