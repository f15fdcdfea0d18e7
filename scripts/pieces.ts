import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isObject } from '#model/json'
import { makeOutgoing } from '#platform/outgoing/outgoing'
import { makeWall } from '#platform/wall/wall'
import { makeNpmTurns } from '#providers/services/npm'
import { formsOf } from '#providers/services/pieces/forms'
import { makePieceRunner } from '#providers/services/pieces/runner'
import { makePieceSource } from '#providers/services/pieces/source'

// Fetches pieces from the registry that npm is configured with, loads each behind the wall and counts what it
// describes: `node scripts/pieces.ts slack notion@0.7.3 …`. Without names, uses the pieces that are known to need no
// other package.

const KNOWN =
  `add-event@0.1.0 apitemplate-io@0.2.0 ashby@0.2.0 baserow@0.10.0 bigcommerce@0.2.0 blockscout@0.1.7 bursty-ai@0.1.8
contentful@0.2.0 datocms@0.2.0 deepseek@0.1.7 digital-ocean@0.0.8 digital-pilot@0.1.7 drip@0.4.7 dumpling-ai@0.1.7 facebook-leads@0.3.7
feathery@0.1.7 fireberry@0.1.6 freshservice@0.2.0 ghostcms@0.2.0 greenhouse@0.1.0 harvest@0.2.0 heartbeat@0.1.7 housecall-pro@0.2.0
image-router@0.1.8 intercom@0.7.5 lemlist@0.1.10 lemon-squeezy@0.1.10 llmrails@0.2.0 luxury-presence@0.1.7 mempool-space@0.2.0
mistral-ai@0.3.0 mongodb@0.1.7 motion@0.2.0 motiontools@0.1.7 mysql@0.2.7 notion@0.7.3 oracle-fusion-cloud-erp@0.1.0 pandadoc@0.2.0
pdfcrowd@0.2.0 photoroom@0.1.7 personal-ai@0.1.6 provenexpert@0.1.0 salesloft@0.1.0 sender@0.1.7 sitespeakai@0.1.6 shopify@0.3.0
slack@0.17.9 slidespeak@0.2.0 square@0.4.6 surveymonkey@0.2.0 totalcms@0.2.0 village@0.4.4 webflow@0.3.0 woocommerce@0.4.0 wordpress@0.7.0
zoho-bookings@0.1.6 zoho-books@0.2.0 subflows@0.6.3 store@0.6.20`.split(/\s+/)

const asked = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'pieces-'))
const outgoing = makeOutgoing({ allowTargets: [] })
const wall = makeWall({ outgoing, level: 'namespaces', processes: 4, idleMs: 1 })
const npmTurns = makeNpmTurns()
const source = makePieceSource({ folder, allowed: ['*'], mirror: process.env.HEDDLE_PIECES_MIRROR ?? null, npmTurns })
const pieces = makePieceRunner({ wall, source })
const total = { loaded: 0, actions: 0, triggers: 0, failed: 0 }

for (const named of asked.length > 0 ? asked : KNOWN) {
  const [name = '', version] = named.split('@')
  const service = `piece.${name.replaceAll('-', '_')}`
  try {
    const { folder: _folder, ...piece } = await source.fetch(
      { workspaceId: 'script', signal: AbortSignal.timeout(120_000) },
      name,
      version,
    )
    const since = performance.now()
    const { result } = await pieces.call({
      workspaceId: 'script',
      piece,
      service,
      request: { do: 'describe' },
      credential: undefined,
      signal: AbortSignal.timeout(120_000),
    })
    if ('error' in result || !isObject(result.output))
      throw new Error('error' in result ? result.error.message : 'no forms')
    const forms = formsOf(name, service, result.output)
    total.loaded += 1
    total.actions += forms.actions.length
    total.triggers += forms.triggers.length
    const kinds = forms.auth.map(({ kind }) => kind).join('+') || 'none'
    const took = Math.round(performance.now() - since)
    console.log(
      `${name}@${piece.version}: ${forms.actions.length} actions, ${forms.triggers.length} triggers, auth ${kinds}, ${took} ms`,
    )
  } catch (error) {
    total.failed += 1
    console.log(`${named}: ${error instanceof Error ? error.message : error}`)
  }
}
console.log(JSON.stringify(total))
await wall.close()
await outgoing.close()
rmSync(folder, { recursive: true, force: true })
