import { SECOND } from '#platform/clock'
import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { scopeOf } from '#platform/http/context'
import { OutgoingFailure } from '#platform/outgoing/failure'
import type { OutgoingResponse } from '#platform/outgoing/outgoing'
import { hostAllowed } from './hosts.ts'
import { addressOfModel } from './kinds.ts'
import { findPreset, type Preset } from './presets.ts'
import type { CredentialTest } from './schema.ts'
import type { ById } from './service.ts'
import * as store from './store.ts'
import { CredentialRefused, type Resolved, type ResolveParts, resolveCredential } from './use.ts'

// A call that changes nothing, to check whether the service accepts the secret.

const ANSWER_WITHIN = 15 * SECOND

type TestCall = { method: string } & NonNullable<Preset['test']>

/** Returns the same path at the credential's own host, if the service also runs at other hosts than its usual one. */
function atOwnHost(usual: string, hosts: readonly string[]): string {
  const own = hosts.find((name) => !name.startsWith('*.'))
  const url = new URL(usual)
  if (own !== undefined && !hostAllowed(hosts, url)) url.host = own
  return url.href
}

export function callOf(
  { service, kind, config, hosts }: Pick<store.Usable, 'service' | 'kind' | 'config' | 'hosts'>,
  url: string | undefined,
): TestCall | undefined {
  if (url !== undefined) return { method: 'GET', url }
  const { test } = (service === null ? undefined : findPreset(service)) ?? {}
  if (test) return { method: 'GET', ...test, url: atOwnHost(test.url, hosts) }
  const model = kind === 'llm' ? addressOfModel(config) : null
  if (model !== null) return { method: 'GET', url: `${model}/models` }
  const host = hosts.find((name) => !name.startsWith('*.'))
  return host === undefined ? undefined : { method: 'GET', url: `https://${host}/` }
}

export async function testCredential(
  parts: ResolveParts,
  ctx: Context,
  { credential_id, url }: ById & { url?: string | undefined },
): Promise<CredentialTest> {
  const { workspace_id } = ctx.workspace
  const principal = { userId: ctx.person.user_id }
  let outcome: { ok: boolean; message: string }
  try {
    const resolved = await resolveCredential(parts, {
      workspaceId: workspace_id,
      credentialId: credential_id,
      principal,
    })
    outcome = await tryOut(parts, ctx, resolved, url)
  } catch (error) {
    if (!(error instanceof CredentialRefused)) throw error
    if (error.code === 'credential_not_allowed') throw problem('forbidden', 'Your role does not allow you to use it.')
    outcome = { ok: false, message: error.message }
  }
  return keepTest(ctx, credential_id, outcome)
}

/** Stores the outcome of the last test. The caller has checked that the person may use the credential. */
export async function keepTest(
  ctx: Context,
  credentialId: string,
  outcome: { ok: boolean; message: string },
): Promise<CredentialTest> {
  const test = { ...outcome, tested_at: new Date() }
  const { workspace_id } = ctx.workspace
  await ctx.db.tenant(scopeOf(ctx), (tx) => store.recordTest(tx, workspace_id, credentialId, test))
  return test
}

async function tryOut(
  { outgoing }: ResolveParts,
  ctx: Context,
  { row, credential }: Resolved,
  url: string | undefined,
): Promise<{ ok: boolean; message: string }> {
  const call = callOf(row, url)
  if (call === undefined) return { ok: false, message: 'Name an address to try: the hosts are wildcards.' }
  try {
    const { fails, ...sent } = call
    const answer = await outgoing.request({ ...sent, credential, signal: ctx.stepAside(), timeoutMs: ANSWER_WITHIN })
    return judge(answer, new URL(call.url).host, { isChosen: url !== undefined || row.service !== null, fails })
  } catch (error) {
    if (!(error instanceof OutgoingFailure)) throw error
    return { ok: false, message: error.message }
  }
}

/** Judges the response. An address that the user did not choose proves only that the secret was not refused there. */
export function judge(
  { status, body }: Pick<OutgoingResponse, 'status' | 'body'>,
  host: string,
  { isChosen, fails }: { isChosen: boolean; fails?: TestCall['fails'] },
): { ok: boolean; message: string } {
  if (status === 401 || status === 403 || (status < 300 && fails && isRefusal(body, fails)))
    return { ok: false, message: `${host} answered ${status}: it does not take this secret.` }
  if (status >= 500) return { ok: false, message: `${host} answered ${status}; try again later.` }
  if (isChosen && status >= 400) return { ok: false, message: `${host} answered ${status}.` }
  return { ok: true, message: `${host} answered ${status}.` }
}

/** Checks whether a response with status 200 is a refusal. A response that is not JSON is not from the service. */
function isRefusal(body: Buffer, fails: NonNullable<TestCall['fails']>): boolean {
  try {
    const read = JSON.parse(body.toString('utf8')) as Record<string, unknown>
    return 'ok' in fails ? read[fails.ok] !== true : read[fails.errors] !== undefined
  } catch {
    return true
  }
}
