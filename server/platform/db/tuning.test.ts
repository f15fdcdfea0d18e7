import { expect, test } from 'vitest'
import { allowedConnections, connectionsFor, settingsFor, toConfigLines } from './tuning.ts'

const GIB = 2 ** 30

test.each([
  [1, { shared_buffers: '128MB', effective_cache_size: '512MB', work_mem: '4MB', maintenance_work_mem: '64MB' }],
  [4, { shared_buffers: '256MB', effective_cache_size: '2048MB', work_mem: '4MB', maintenance_work_mem: '64MB' }],
  [8, { shared_buffers: '512MB', effective_cache_size: '4096MB', work_mem: '8MB', maintenance_work_mem: '128MB' }],
  [64, { shared_buffers: '512MB', effective_cache_size: '32768MB', work_mem: '16MB', maintenance_work_mem: '512MB' }],
])('PostgreSQL gets settings that fit a machine with %i GiB', (memory, expected) => {
  expect(settingsFor(memory * GIB)).toMatchObject(expected)
})

test('the connection limit is raised only if the configuration allows too few', () => {
  const configuration = `max_connections = 100\t\t# (change requires restart)\n${toConfigLines(settingsFor(8 * GIB))}`
  expect(allowedConnections(configuration)).toBe(120)
  expect(connectionsFor(96, configuration)).toEqual({})
  expect(connectionsFor(136, configuration)).toEqual({ max_connections: '156' })
  expect(connectionsFor(136, `${configuration}max_connections = 300\n`)).toEqual({})
  expect(connectionsFor(24, '#max_connections = 10\n')).toEqual({})
})
