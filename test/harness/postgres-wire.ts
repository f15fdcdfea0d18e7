// Parses the protocol of PostgreSQL on its way through a proxy, just enough to know to which transaction a byte
// belongs.

export type Message = { readonly type: string; readonly raw: Buffer }

/** Splits a stream of bytes into messages. The first messages of a client have a length but no type. */
export function makeFramer(options: { untyped: boolean }) {
  let rest: Buffer = Buffer.alloc(0)
  let untyped = options.untyped
  return {
    /** Declares that all later messages have a type. */
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
        // Another untyped message follows an SSL request; typed messages follow a startup message.
        if (untyped && messages.at(-1)!.raw.readUInt32BE(4) >> 16 === 3) untyped = false
      }
      return messages
    },
  }
}

const textFrom = (raw: Buffer, at: number): string => raw.toString('utf8', at, raw.indexOf(0, at))

/** Collects the statements of a client into groups, each of which the server answers with one ReadyForQuery. */
export function makeStatements() {
  const prepared = new Map<string, string>()
  let group: string[] = []
  return {
    /** Returns the group that this message completes. */
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

/** Collects groups into transactions. A group outside of begin and commit is a transaction by itself. */
export function makeTransactions() {
  let open: string[] | undefined
  return {
    /** Returns the statements of the transaction that this group would commit. */
    take(group: readonly string[]): readonly string[] | undefined {
      if (group.some((text) => BEGINS.test(text))) open = []
      if (!open) return group
      open.push(...group)
      if (!group.some((text) => ENDS.test(text))) return undefined
      const done = open
      open = undefined
      return done
    },
    /** Discards the transaction after a rollback or an error of the server. */
    reset: () => {
      open = undefined
    },
  }
}
