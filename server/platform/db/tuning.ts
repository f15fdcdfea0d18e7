import { totalmem } from 'node:os'

// Settings of the program's own PostgreSQL that fit the machine. They are written into postgresql.conf when the cluster
// is created, where an administrator may change them.

const MIB = 2 ** 20

const between = (least: number, value: number, most: number): number => Math.min(most, Math.max(least, value))

/** Returns the memory of the machine, or of the container if that has less. */
export const memoryOfMachine = (): number => {
  const constrained = process.constrainedMemory()
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem()
}

/**
 * Returns the memory settings. The program and the file cache share the memory, so PostgreSQL uses a sixteenth for its
 * buffers.
 */
export function settingsFor(memory: number): Record<string, string> {
  const megabytes = (share: number, least: number, most: number): string =>
    `${Math.floor(between(least, memory / MIB / share, most))}MB`
  return {
    max_connections: String(CONNECTIONS),
    // Each buffer costs memory before it contains anything: with 1 GB of buffers, an idle PostgreSQL used 116 MB.
    shared_buffers: megabytes(16, 128, 512),
    effective_cache_size: megabytes(2, 512, 65_536),
    work_mem: megabytes(1024, 4, 16),
    maintenance_work_mem: megabytes(64, 64, 512),
    random_page_cost: '1.1',
    min_wal_size: '256MB',
    max_wal_size: '1GB',
    checkpoint_timeout: '5min',
    jit: 'off',
  }
}

/** Returns the settings as lines of postgresql.conf. */
export const toConfigLines = (settings: Record<string, string>): string =>
  Object.entries(settings)
    .map(([name, value]) => `${name} = '${value}'\n`)
    .join('')

const CONNECTIONS = 120
/** Connections for the superuser, backups, and people who inspect the database. */
const FOR_OTHERS = 20

/** Returns the limit of the configuration, in which the last line counts. */
export function allowedConnections(configuration: string): number {
  const lines = [...configuration.matchAll(/^\s*max_connections\s*=?\s*'?(\d+)/gm)]
  return lines.length === 0 ? 100 : Number(lines.at(-1)![1])
}

/**
 * Returns a higher limit for the server's start if many processes need more connections than the configuration allows.
 */
export function connectionsFor(wanted: number, configuration: string): Record<string, string> {
  const needed = wanted + FOR_OTHERS
  return needed > allowedConnections(configuration) ? { max_connections: String(needed) } : {}
}
