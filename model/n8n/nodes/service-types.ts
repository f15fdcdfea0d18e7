// How the tables of services are written.

export type ActionOf = {
  action: string
  args: Record<string, string>
  /** The list of items inside the output: `items` of a list that is fetched page by page, or `` where the output is one. */
  list?: string
  /** Where the output is a file, the name of the field that holds it. */
  file?: string
}
export type ServiceOf = { service: string; resource: string; operation: string; actions: Record<string, ActionOf> }
