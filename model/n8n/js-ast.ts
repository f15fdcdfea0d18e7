// The expressions of JavaScript that n8n templates hold between {{ and }}: a tree, never run.

export type Js =
  | { kind: 'literal'; value: string | number | boolean | null }
  | { kind: 'regex'; pattern: string; flags: string }
  | { kind: 'template'; texts: string[]; parts: Js[] }
  | { kind: 'name'; name: string }
  | { kind: 'member'; object: Js; key: string | number }
  | { kind: 'index'; object: Js; index: Js }
  | { kind: 'call'; callee: Js; args: Js[] }
  | { kind: 'new'; callee: Js; args: Js[] }
  | { kind: 'unary'; operator: string; operand: Js }
  | { kind: 'binary'; operator: string; left: Js; right: Js }
  | { kind: 'choice'; test: Js; yes: Js; no: Js }
  | { kind: 'list'; items: Js[] }
  | { kind: 'object'; entries: { key: string; value: Js }[] }
  | { kind: 'function'; params: string[]; body: Js }

/** The text is no expression, or one that has no counterpart; the message ends up in the report. */
export class NotConvertible extends Error {}

/** A node that the template leaves open too: nothing was lost, and n8n would fail there as well. */
export class NotFilled extends NotConvertible {}
