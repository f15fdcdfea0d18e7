// The syntax tree of the JavaScript expressions between {{ and }} in n8n templates. It is never executed.

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

/** The text is not an expression, or it has no counterpart; the message is shown in the report. */
export class NotConvertible extends Error {}

/** The template does not fill in this node: nothing is lost, because n8n would fail there too. */
export class NotFilled extends NotConvertible {}
