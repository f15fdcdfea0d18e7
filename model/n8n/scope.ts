import type { HelperPlace, Out, View } from './out.ts'

/** What the expressions of one node can read. */
export type Scope = {
  /** The current item; null where a node runs over no items. */
  input: View
  /** The position of the current item. */
  index: Out
  workflowName: string
  /** Another node of n8n; throws where it cannot have run before. */
  node(name: string): View
  /** A remark for the report. */
  remark(why: string): void
  /** `$fromAI(name)`: what a model, or the caller of a tool, fills in. */
  filledByModel?(name: string): Out
  /** Where an expression that CEL cannot say is computed; absent where there is no place for another node. */
  place?: HelperPlace | undefined
}
