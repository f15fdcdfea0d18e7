type Page<Item> = { items: Item[]; next_cursor: string | null }

/** Iterates over a list page by page: `for await (const team of all(heddle.listTeams))`. */
export async function* all<Item, Input extends { cursor?: string | undefined }>(
  list: (input: Input) => Promise<Page<Item>>,
  input: Omit<Input, 'cursor'> = {} as Omit<Input, 'cursor'>,
): AsyncGenerator<Item> {
  let cursor: string | null = null
  do {
    const page: Page<Item> = await list({ ...input, ...(cursor !== null && { cursor }) } as Input)
    yield* page.items
    cursor = page.next_cursor
  } while (cursor !== null)
}
