import { afterAll, beforeAll, beforeEach } from 'vitest'
import { FAKE_KEY, type FakeLlm, startFakeLlm } from '#test/fakes/llm/server'
import { type Service, useService } from './service.ts'
import { makeWorld, type World } from './world.ts'

/** Starts the whole service with a fake language model, which is reset before each test, and with people. */
export async function useServiceWithModel(
  name: string,
  env: Record<string, string> = {},
): Promise<{ model: FakeLlm; service: () => Service; world: () => World }> {
  const model = await startFakeLlm()
  const service = useService({
    env: {
      LLM_PROVIDER: 'openai-compatible',
      LLM_MODEL: name,
      LLM_MODELS: '*',
      LLM_API_KEY: FAKE_KEY,
      LLM_BASE_URL: model.baseUrl,
      ...env,
    },
  })
  let world: World | undefined
  beforeAll(async () => {
    world = await makeWorld(service())
  })
  beforeEach(() => model.reset())
  afterAll(() => model.close())
  return { model, service, world: () => world! }
}
