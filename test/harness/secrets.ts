import type pg from 'pg'

// Helpers to search for a secret that must not be found.

/** Returns every encoding in which the secret could be recognised. */
export const spellings = (secret: string): string[] => [
  secret,
  encodeURIComponent(secret),
  JSON.stringify(secret).slice(1, -1),
  Buffer.from(secret).toString('hex'),
  ...[0, 1, 2].map((offset) =>
    Buffer.from('u'.repeat(offset) + secret)
      .toString('base64')
      .slice(offset === 0 ? 0 : offset + 1, -4),
  ),
]

/** Returns every value of every column, as text. */
export async function dumpDatabase(
  database: pg.Client,
  { without = [] }: { without?: string[] } = {},
): Promise<string> {
  const { rows: tables } = await database.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c
     where c.relnamespace in ('public'::regnamespace, 'engine'::regnamespace) and c.relkind = 'r'
       and c.relname <> all ($1)`,
    [without],
  )
  const parts: string[] = []
  for (const table of tables) {
    const { rows } = await database.query<{ text: string }>(`select t::text as text from ${table.name} t`)
    parts.push(...rows.map(({ text }) => text))
  }
  return parts.join('\n')
}
