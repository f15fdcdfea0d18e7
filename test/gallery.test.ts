import { beforeAll, describe, expect, test } from 'vitest'
import { systemWorkflows } from '#areas/workflows/system'
import { useSharedService } from '#test/harness/service'
import { makeWorld, type World } from '#test/harness/world'
import { builtIn } from '#web/features/workflows/built-in.ts'
import { sampleOf } from '#web/features/workflows/gallery/recipe.ts'
import { recipes } from '#web/features/workflows/gallery/recipes.ts'

// Saves every workflow of the gallery and runs it with its sample data.

const service = useSharedService()
let world: World

beforeAll(async () => {
  world = await makeWorld(service())
})

describe('the gallery', () => {
  test('has 40 workflows with different names', () => {
    expect(recipes).toHaveLength(40)
    expect(new Set(recipes.map(({ id }) => id)).size).toBe(40)
    expect(new Set(recipes.map(({ name }) => name)).size).toBe(40)
  })

  test.each(recipes.map(({ id }) => id))('%s runs with its sample data, or waits for a person', async (id) => {
    const recipe = recipes.find((one) => one.id === id)!
    const { name, definition, needs } = recipe
    const call = (path: string, body: object) => world.owner.call('POST', path, { body })
    const made = await call('/api/workflows', { name, definition })
    expect(made.status, made.text).toBe(201)
    const base = `/api/workflows/${made.body.workflow_id}`
    const input = sampleOf(recipe)
    // Workflows that need something from outside are tried with mocked effects.
    const ran = await (needs === undefined
      ? call(`${base}/run`, { input })
      : call(`${base}/try`, { definition, input, effects: 'mock' }))
    expect([200, 202], ran.text).toContain(ran.status)
    const read = async () => (await world.owner.call('GET', `/api/workflows/executions/${ran.body.execution_id}`)).body
    await expect.poll(async () => (await read()).status).toMatch(/^(succeeded|waiting|failed)$/)
    const execution = await read()
    expect(['succeeded', 'waiting'], JSON.stringify(execution.error)).toContain(execution.status)
  })
})

test('the console shows the same names, descriptions and fields of built-in workflows as the service', () => {
  const said = [...systemWorkflows.values()].map(({ slug, name, description, definition }) => [
    slug,
    {
      title: name,
      description: description.replaceAll('executions', 'runs'),
      fields: Object.keys((definition.inputs?.properties ?? {}) as object),
    },
  ])
  const shown = Object.entries(builtIn).map(([slug, { fields, ...texts }]) => [
    slug,
    { ...texts, fields: Object.keys(fields) },
  ])
  expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(said))
})
