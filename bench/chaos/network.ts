import type { DatabaseUrls } from '#platform/db/pool'
import { startFakeS3 } from '#test/fakes/s3/server'
import { type NetworkProxy, startProxy, targetOf } from '#test/harness/proxy'
import { type BenchDatabase, startBenchDatabase } from '../database.ts'
import { makeBenchPerson } from '../world.ts'
import { type Member, makeFleet, type Role } from './fleet.ts'
import { makeLedger } from './ledger.ts'
import { makeWorkflows, schedule } from './people.ts'
import { randomFrom } from './random.ts'

// Two servers and two workers, each with a separate network connection to one database.

export type NetworkMember = { member: Member; proxy: NetworkProxy }

export type Network = Awaited<ReturnType<typeof makeNetwork>>

const urlsThrough = (proxy: NetworkProxy, { owner, app, engine, operator }: DatabaseUrls): DatabaseUrls => ({
  owner: proxy.through(owner),
  app: proxy.through(app),
  engine: proxy.through(engine),
  operator: proxy.through(operator),
})

export async function makeNetwork(options: { seed: number; apis?: number; workers?: number }) {
  const { seed, apis = 2, workers = 2 } = options
  const random = randomFrom(seed)
  const database: BenchDatabase = await startBenchDatabase()
  const storage = await startFakeS3('bench', 'bench')
  const fleet = makeFleet({
    database,
    env: {
      HEDDLE_DRAIN_S: '1',
      S3_BUCKET: 'bench',
      S3_ENDPOINT: storage.url,
      S3_ACCESS_KEY_ID: 'bench',
      S3_SECRET_ACCESS_KEY: 'bench',
    },
  })
  const superuserUrl = Object.assign(new URL(database.superuserUrl), { pathname: '/bench' }).href
  const ledger = makeLedger(superuserUrl)
  const wired: NetworkMember[] = []

  const start = async (role: Role): Promise<NetworkMember> => {
    const proxy = await startProxy(targetOf(database.superuserUrl))
    const member = await fleet.start(role, {}, urlsThrough(proxy, database.urls))
    const one = { member, proxy }
    wired.push(one)
    return one
  }
  const of = (role: Role): NetworkMember[] => wired.filter(({ member }) => member.role === role)
  const { key } = await makeBenchPerson(database)
  await Promise.all([
    ...Array.from({ length: apis }, () => start('api')),
    ...Array.from({ length: workers }, () => start('worker')),
  ])
  const workflows = await makeWorkflows(of('api')[0]!.member.base, key)
  await schedule(of('api')[0]!.member.base, key, workflows)

  return {
    random,
    database,
    /** The store of outputs over 32 KiB. */
    storage,
    fleet,
    ledger,
    superuserUrl,
    key,
    workflows,
    of,
    pick: (role: Role): NetworkMember => {
      const among = of(role)
      return among[Math.floor(random() * among.length)]!
    },
    /** Returns the address of a random running server; callers always know the current servers. */
    base: (): string => {
      const among = of('api')
      return among[Math.floor(Math.random() * among.length)]!.member.base
    },
    start,
    kill: async (victim: NetworkMember): Promise<void> => {
      wired.splice(wired.indexOf(victim), 1)
      await fleet.kill(victim.member)
      await victim.proxy.stop()
    },
    /** Asks a process to end, as an update does, after its successor has started. */
    replace: async (old: NetworkMember): Promise<string[]> => {
      await start(old.member.role)
      wired.splice(wired.indexOf(old), 1)
      const complaints = await fleet.retire(old.member)
      await old.proxy.stop()
      return complaints
    },
    clear: async (): Promise<void> => {
      await fleet.stop()
      for (const { proxy } of wired) await proxy.stop()
      await ledger.stop()
      await database.stop()
      await storage.stop()
    },
  }
}
