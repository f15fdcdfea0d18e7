import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

// A real browser for the journeys. On Debian, root installs it if it is missing. Without a browser the journeys are
// skipped with a warning; in CI that is a failure.

const places = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
]
/**
 * Features of Chromium that are disabled. The first group shows parts of the browser window as pages, each in a process
 * of 150 MB for every visitor, or keeps a process in reserve. The second group is the list that Playwright disables,
 * which this list replaces.
 */
const off = [
  'PreloadTopChromeWebUI',
  'InitialWebUI',
  'WebUIToolbar',
  'WebUIReloadButton',
  'WebUIOmniboxPopup',
  'WebUIOmniboxFullPopup',
  'WebUIOmniboxAimPopup',
  'SpareRendererForSitePerProcess',

  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
]
const flags = [
  `--disable-features=${off.join(',')}`,
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--use-fake-device-for-media-stream',
  '--use-fake-ui-for-media-stream',
]

const find = (): string | undefined =>
  [process.env.CHROMIUM, ...places].find((path) => path !== undefined && existsSync(path))

function install(): void {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return
  try {
    execFileSync('apt-get', ['update', '-qq'], { stdio: 'ignore', timeout: 120_000 })
    execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'], {
      stdio: 'ignore',
      timeout: 300_000,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
  } catch {
    // `chromiumPath` reports the missing browser.
  }
}

/**
 * Returns the path of the browser, and installs the browser once. Undefined if there is none; in CI that is an error.
 */
export function chromiumPath(): string | undefined {
  if (!find()) install()
  const path = find()
  if (path) return path
  const message =
    'No Chromium was found, so the journeys in a browser are not run. Install it, or set CHROMIUM to its path.'
  if (process.env.CI === 'true') throw new Error(message)
  console.warn(message)
  return undefined
}

export const launchChromium = (executablePath: string): Promise<Browser> =>
  chromium.launch({ executablePath, args: flags })
