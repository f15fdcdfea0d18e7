import { type Attack, outcome, tally, times } from './attack.ts'

export const largeVersions: Attack = {
  name: 'lists.versions',
  does: '60 versions of 900 KB each, listed ten times at once',
  async prepare(world) {
    const tenant = await world.tenant()
    const definition = (n: number) => ({
      nodes: [{ id: 'n', type: 'set', args: { values: { n, text: 'x'.repeat(900_000) } } }],
      edges: [],
    })
    const { workflow_id } = await tenant.post('/api/workflows', { name: 'Hostile', definition: definition(0) })
    for (const n of times(59, (index) => index + 1))
      await tenant.post(`/api/workflows/${workflow_id}/versions`, { definition: definition(n) })
    return async () => {
      const answers = await Promise.all(
        times(10, () => tenant.ask('GET', `/api/workflows/${workflow_id}/versions?limit=200`)),
      )
      const largest = Math.max(...answers.map(({ bytes }) => bytes))
      return `${tally(answers.map(outcome))}; the largest answer had ${(largest / 2 ** 20).toFixed(1)} MiB`
    }
  },
}

export const parallelReads: Attack = {
  name: 'lists.parallel',
  does: '420 GETs at once with one key, five times',
  async prepare(world) {
    const tenant = await world.tenant()
    return async () => {
      const seen: string[] = []
      for (let round = 0; round < 5; round += 1) {
        const answers = await Promise.all(times(420, () => tenant.ask('GET', '/api/workflows?limit=200')))
        seen.push(...answers.map(outcome))
      }
      return tally(seen)
    }
  },
}

export const longConversations: Attack = {
  name: 'lists.conversations',
  does: '20,000 messages in 2,000 conversations, searched 60 times at once for words that are in all of them, in one and in none',
  async prepare(world) {
    const tenant = await world.tenant()
    await world.write(
      `insert into threads (workspace_id, thread_id, kind, visitor_id, last_seq, last_visitor_seq, updated_at)
       select $1::uuid, md5('t' || n || $1::uuid)::uuid, 'embed', md5('v' || n)::uuid, 10, 10, now() - n * interval '1 second' from generate_series(1, 2000) n`,
      [tenant.workspaceId],
    )
    for (const part of times(10, (at) => at + 1))
      await world.write(
        `insert into messages (workspace_id, message_id, thread_id, seq, turn, role, text)
         select $1::uuid, gen_random_uuid(), md5('t' || n || $1::uuid)::uuid, $2::integer, $2::integer, 'visitor',
           'Where is my parcel number ' || n * $2::integer || '? ' || md5(n || 'a' || $2::integer) || md5($2::integer || 'b' || n)
         from generate_series(1, 2000) n`,
        [tenant.workspaceId, part],
      )
    return async () => {
      const texts = ['where is my parcel number', 'parcel number 19990', 'my parcel number zzz', 'ar']
      const answers = await Promise.all(
        times(60, (n) => tenant.ask('GET', `/api/conversations?limit=200&q=${encodeURIComponent(texts[n % 4]!)}`)),
      )
      return tally(answers.map(outcome))
    }
  },
}
