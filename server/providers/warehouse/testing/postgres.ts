import pg from 'pg'

/** Creates a separate role on the test cluster that may sign in and read, and nothing else. */
export async function makePersonalWarehouse(superuserUrl: string, password: string) {
  const user = `reader_${Date.now().toString(36)}`
  const administer = async (statement: string): Promise<void> => {
    const client = new pg.Client({ connectionString: superuserUrl })
    await client.connect()
    try {
      await client.query(statement)
    } finally {
      await client.end()
    }
  }
  await administer(`create role ${user} login password '${password}'`)
  return { user, drop: () => administer(`drop role if exists ${user}`) }
}
