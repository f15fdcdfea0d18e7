import pg from 'pg'

// A named statement, sent and read with less work than by a query of the driver, which copies each configuration with
// its property descriptors (3 µs) and lets the server describe the result of every execution. A connection learns the
// columns of a statement from its first execution. They cannot change later: the server then refuses the statement.

type Connection = { describe(message: object): void; close(message: object): void }

/** The columns of a statement, with their parsers. */
type Columns = { fields: unknown[]; _parsers: unknown; _prebuiltEmptyResultObject: unknown }

/** The parts of the driver's query that its types do not name. */
type Internals = {
  name: string
  values: readonly unknown[]
  callback: (error: Error | null | undefined, result?: pg.QueryResult) => void
  _canceledDueToError: unknown
  _result: Columns & { parseRow(fields: unknown[]): object; addRow(row: object): void }
  hasBeenParsed(connection: Connection): boolean
  prepare(connection: Connection): void
  handleDataRow(message: { fields: unknown[] }): void
  handleCommandComplete(message: object, connection: Connection): void
}

const DriversQuery = pg.Query as unknown as new (text: string) => Internals

/**
 * What is known of one connection, and the connection as a query sees it that learns the columns or knows them. Neither
 * closes a statement whose values could not be sent: the driver would later use the statement as if it were open.
 */
type Known = { columns: Map<string, Columns>; learning: Connection; knowing: Connection }

const known = new WeakMap<Connection, Known>()
const ignored = (): void => {}

const knownOf = (connection: Connection): Known => {
  const found = known.get(connection)
  if (found) return found
  const learning = Object.assign(Object.create(connection) as Connection, { close: ignored })
  const knowing = Object.assign(Object.create(learning) as Connection, { describe: ignored })
  const made = { columns: new Map<string, Columns>(), learning, knowing }
  known.set(connection, made)
  return made
}

class NamedQuery extends DriversQuery {
  /** The columns of the connection, if this execution adds those of its statement. */
  private learned: Map<string, Columns> | undefined

  override prepare(connection: Connection): void {
    const { columns, learning, knowing } = knownOf(connection)
    const own = this.hasBeenParsed(connection) ? columns.get(this.name) : undefined
    if (own) Object.assign(this._result, own)
    else this.learned = columns
    super.prepare(own ? knowing : learning)
  }

  /** Reads a row without the events that nobody listens to. */
  override handleDataRow({ fields }: { fields: unknown[] }): void {
    if (this._canceledDueToError) return
    try {
      this._result.addRow(this._result.parseRow(fields))
    } catch (error) {
      this._canceledDueToError = error
    }
  }

  override handleCommandComplete(message: object, connection: Connection): void {
    const { fields, _parsers, _prebuiltEmptyResultObject } = this._result
    this.learned?.set(this.name, { fields, _parsers, _prebuiltEmptyResultObject })
    super.handleCommandComplete(message, connection)
  }
}

type Done = (error: Error | null | undefined, result?: pg.QueryResult) => void
export type NamedConfig = { name: string; text: string; values?: readonly unknown[] }

const FIELDS = new Set(['name', 'text', 'values'])

/** Checks whether a configuration of the driver is a named statement without other options. */
export const isNamed = (config: unknown): config is NamedConfig => {
  if (typeof config !== 'object' || config === null || !('name' in config)) return false
  for (const field in config) if (!FIELDS.has(field)) return false
  return config.name !== undefined
}

export const namedQuery = ({ name, text, values = [] }: NamedConfig, done: Done): pg.Query => {
  const query = new NamedQuery(text)
  query.name = name
  query.values = values
  query.callback = done
  return query as unknown as pg.Query
}
