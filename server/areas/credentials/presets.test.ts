import { describe, expect, test } from 'vitest'
import { validateJson } from '#model/json-schema'
import { canonicalHost, hostAllowed } from './hosts.ts'
import { kindForms } from './kinds.ts'
import { presets } from './presets.ts'

describe('the known services', () => {
  test('are at least forty, with unique names', () => {
    expect(presets.length).toBeGreaterThanOrEqual(40)
    expect(new Set(presets.map(({ service }) => service)).size).toBe(presets.length)
  })

  test.each(presets.map((preset) => [preset.service, preset] as const))(
    '%s has a valid description',
    (_name, preset) => {
      for (const host of preset.hosts) expect(canonicalHost(host)).toBe(host)
      const { properties } = kindForms[preset.kind].config_schema as { properties: Record<string, never> }
      for (const [name, value] of Object.entries(preset.config))
        expect([name, validateJson(properties[name] ?? false, value as never)]).toEqual([name, []])
      if (preset.test) expect(hostAllowed(preset.hosts, new URL(preset.test.url))).toBe(true)
      if (preset.help) expect(new URL(preset.help).protocol).toBe('https:')
      expect(preset.kind === 'service').toBe(preset.fields !== undefined)
      const templates = JSON.stringify(preset.apply ?? {})
      for (const { name } of preset.fields ?? []) expect(templates).toContain(`{${name}}`)
    },
  )

  test.each([
    ['create_channel', ['channels:manage', 'groups:write']],
    ['join_channel', ['channels:join']],
    ['open_conversation', ['im:write', 'mpim:write']],
    ['send_message', ['chat:write', 'chat:write.customize']],
  ])('ask Slack for the scopes that its reference requires for %s', (_action, scopes) => {
    const asked = presets.find(({ service }) => service === 'slack_oauth')?.config.scopes
    expect(asked).toEqual(expect.arrayContaining(scopes))
  })
})
