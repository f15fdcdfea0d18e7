// Reads PostgreSQL's protocol as it passes by, as far as one must to know which transaction a byte belongs to.

export type Message = { readonly type: string; readonly raw: Buffer }

/** Cuts a stream of bytes into messages. The first ones of a client have no type, only a length. */
export function makeFramer(options: { untyped: boolean }) {
  let rest: Buffer = Buffer.alloc(0)
  let untyped = options.untyped
  return {
    /** What follows has a type. */
    typed: () => {
      untyped = false
    },
    push(chunk: Buffer): Message[] {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      const messages: Message[] = []
      for (;;) {
        const head = untyped ? 0 : 1
        if (rest.length < head + 4) break
        const length = head + rest.readUInt32BE(head)
        if (rest.length < length) break
        messages.push({ type: untyped ? '' : String.fromCharCode(rest[0]!), raw: rest.subarray(0, length) })
        rest = rest.subarray(length)
        // An SSL request is followed by another untyped message, a start by typed ones.
        if (untyped && messages.at(-1)!.raw.readUInt32BE(4) >> 16 === 3) untyped = false
      }
      return messages
    },
  }
}

const textFrom = (raw: Buffer, at: number): string => raw.toString('utf8', at, raw.indexOf(0, at))

/** Statements of a client, grouped as the server answers them: each group ends with one ReadyForQuery. */
export function makeStatements() {
  const prepared = new Map<string, string>()
  let group: string[] = []
  return {
    /** The group that this message completes. */
    take({ type, raw }: Message): string[] | undefined {
      if (type === 'Q') return [textFrom(raw, 5)]
      if (type === 'P') {
        const name = textFrom(raw, 5)
        prepared.set(name, textFrom(raw, 6 + Buffer.byteLength(name)))
      }
      if (type === 'B') {
        const portal = textFrom(raw, 5)
        group.push(prepared.get(textFrom(raw, 6 + Buffer.byteLength(portal))) ?? '')
      }
      if (type !== 'S') return undefined
      const done = group
      group = []
      return done
    },
  }
}

const BEGINS = /^\s*(begin|start transaction)\b/i
const ENDS = /^\s*(commit|end)\b/i

/** Gathers groups into transactions; a group outside of begin and commit is one of its own. */
export function makeTransactions() {
  let open: string[] | undefined
  return {
    /** The statements of the transaction that this group would commit. */
    take(group: readonly string[]): readonly string[] | undefined {
      if (group.some((text) => BEGINS.test(text))) open = []
      if (!open) return group
      open.push(...group)
      if (!group.some((text) => ENDS.test(text))) return undefined
      const done = open
      open = undefined
      return done
    },
    /** Rolled back, or the server says so. */
    reset: () => {
      open = undefined
    },
  }
}
