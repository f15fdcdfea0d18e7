import { type Branch, branchesOf, type Source } from '../document/upstream.ts'
import { further } from '../document/value.ts'

// The tree of data that can be referenced, as a list of visible rows.

export type Row = {
  reference: string
  name: string
  hint: string
  depth: number
  sample: Branch['sample']
  expandable: boolean
  expanded: boolean
}

const MAX_ROWS = 400

/** Returns the expanded part of the tree; with a search, every place whose name or path contains the words. */
export function rowsOf(
  sources: readonly Source[],
  isOpen: (reference: string, depth: number) => boolean,
  search: string,
): Row[] {
  const rows: Row[] = []
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  const matches = (row: Row): boolean =>
    words.every((word) => `${row.reference} ${row.name}`.toLowerCase().includes(word))
  const visit = (branch: Pick<Branch, 'schema' | 'sample'>, row: Omit<Row, 'expandable' | 'expanded'>): void => {
    if (rows.length >= MAX_ROWS) return
    const children = row.depth < 8 ? branchesOf(branch) : []
    const expanded = children.length > 0 && (words.length > 0 ? row.depth < 4 : isOpen(row.reference, row.depth))
    const whole: Row = { ...row, expandable: children.length > 0, expanded }
    if (words.length === 0 || matches(whole)) rows.push(whole)
    if (!expanded) return
    for (const child of children) {
      visit(child, {
        reference: further(row.reference, child.key),
        name: typeof child.key === 'number' ? `[${child.key}]` : child.key,
        hint: typeof child.schema?.type === 'string' ? child.schema.type : '',
        depth: row.depth + 1,
        sample: child.sample,
      })
    }
  }
  for (const source of sources) {
    visit(source, {
      reference: source.reference,
      name: source.title,
      hint: source.hint,
      depth: 0,
      sample: source.sample,
    })
  }
  return rows
}
