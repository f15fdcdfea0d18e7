import type { CredentialKind } from './kinds.ts'
import presetData from './presets.json' with { type: 'json' }

/** What is known of a service: how it wants to be called, and with what. */
export type Preset = {
  service: string
  title: string
  kind: CredentialKind
  hosts: string[]
  config: Record<string, unknown>
  /** Of kind `service`: the values it asks for, and where each goes (`{field}` stands for a value). */
  fields?: { name: string; title: string }[]
  apply?: {
    headers?: Record<string, string>
    /** Written where the path of a request has the step `:credential`. */
    path?: string
    query?: Record<string, string>
    basic?: [username: string, password: string]
  }
  /** A call that changes nothing and fails where the secret is wrong. */
  test?: { method?: string; url: string; body?: string; headers?: Record<string, string> }
  /** Where to get the secret. */
  help?: string
}

export const presets: readonly Preset[] = presetData as unknown as Preset[]

const byService = new Map(presets.map((preset) => [preset.service, preset]))

export const findPreset = (service: string): Preset | undefined => byService.get(service)
