import type { CredentialKind } from './kinds.ts'
import presetData from './presets.json' with { type: 'json' }

/** The description of a service: how it is called, and which credential it needs. */
export type Preset = {
  service: string
  title: string
  kind: CredentialKind
  hosts: string[]
  config: Record<string, unknown>
  /** Only for the kind `service`: its fields, and where each field is sent (`{field}` is replaced by the value). */
  fields?: { name: string; title: string }[]
  apply?: {
    headers?: Record<string, string>
    /** Replaces the path segment `:credential` of a request. */
    path?: string
    query?: Record<string, string>
    basic?: [username: string, password: string]
  }
  /**
   * A call that changes nothing and fails if the secret is wrong. If the service reports that with status 200, `fails`
   * names the field of the response that is then false (`ok`) or present (`errors`).
   */
  test?: {
    method?: string
    url: string
    body?: string
    headers?: Record<string, string>
    fails?: { ok: string } | { errors: string }
  }
  /** The page that explains how to get the secret. */
  help?: string
}

export const presets: readonly Preset[] = presetData as unknown as Preset[]

const byService = new Map(presets.map((preset) => [preset.service, preset]))

export const findPreset = (service: string): Preset | undefined => byService.get(service)
