/** The tree of a CEL expression. `start` is the position of its first character. */
export type Ast = { start: number } & (
  | { op: 'value'; args: null | boolean | number | string }
  | { op: 'id'; args: string }
  | { op: '.' | '.?'; args: [target: Ast, field: string] }
  | { op: '[]' | '[?]'; args: [target: Ast, key: Ast] }
  | { op: 'call'; args: [name: string, args: Ast[]] }
  | { op: 'rcall'; args: [name: string, receiver: Ast, args: Ast[]] }
  /** `optional`: positions written with a `?`, which are omitted if they have no value. */
  | { op: 'list'; args: Ast[]; optional: ReadonlySet<number> }
  | { op: 'map'; args: [key: Ast, value: Ast][]; optional: ReadonlySet<number> }
  | { op: '?:'; args: [condition: Ast, yes: Ast, no: Ast] }
  | { op: '||' | '&&'; args: [left: Ast, right: Ast] }
  | { op: '!_' | '-_'; args: Ast }
  | { op: BinaryOp; args: [left: Ast, right: Ast] }
)

export type BinaryOp = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | '+' | '-' | '*' | '/' | '%'
