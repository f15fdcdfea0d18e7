import type { HelperPlace, Out, View } from './out.ts'

/** What the expressions of one node can read. */
export type Scope = {
  /** The current item; null if a node runs without items. */
  input: View
  /** The position of the current item. */
  index: Out
  workflowName: string
  /** Returns another n8n node; throws if that node cannot have run before. */
  node(name: string): View
  /** Adds a remark to the report. */
  remark(why: string): void
  /** Returns the value of `$fromAI(name)`, which a model or the caller of a tool fills in. */
  filledByModel?(name: string): Out
  /** The place where an expression that CEL cannot express is computed; absent if no further node can be added. */
  place?: HelperPlace | undefined
}
