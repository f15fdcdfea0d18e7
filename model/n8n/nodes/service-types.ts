// The types of the tables of services.

export type ActionOf = {
  action: string
  args: Record<string, string>
  /**
   * The path of the list of items inside the output: `items` for a list that is fetched page by page, or `` if the
   * output itself is the list.
   */
  list?: string
  /** If the output is a file, the name of the field for it. */
  file?: string
}
export type ServiceOf = { service: string; resource: string; operation: string; actions: Record<string, ActionOf> }
