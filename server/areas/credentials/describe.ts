import type { Tx } from '#platform/db/pool'
import { findPreset } from './presets.ts'
import * as store from './store.ts'

/** Returns what other areas may know about a credential without opening it. */
export const describeCredential = (
  tx: Tx,
  workspaceId: string,
  credentialId: string,
): Promise<{ name: string; service: string | null; kind: string } | undefined> =>
  store.describeCredential(tx, workspaceId, credentialId)

/** Returns the kinds of credentials that these known services accept. */
export const kindsOfPresets = (services: readonly string[]): string[] =>
  services.flatMap((service) => findPreset(service)?.kind ?? [])
