import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { json } from '#test/fakes/llm/answers'
import { FAKE_KEY, startFakeLlm } from '#test/fakes/llm/server'
import { chromiumPath, launchChromium } from '#test/harness/chromium'
import { fillShowcase, PASSWORD, type Shown } from '#test/showcase/fill'
import { emptyPages, operatorPages, pages, pictures, type Shot } from '#test/showcase/pages'

// Takes the pictures of README and docs again: `node scripts/screenshots.ts`. With `--all DIRECTORY [PATTERN]` it takes
// every page (whose name matches), light and dark, wide and narrow, for review.

const root = join(import.meta.dirname, '..')

type Running = { base: string; claim: string | undefined; stop(): Promise<void> }

async function startProgram(): Promise<Running> {
  const fake = await startFakeLlm()
  fake.otherwise(
    json({
      decision: 'approve',
      rationale:
        'The two lines add up to the net amount, the VAT is 20 %, and the order of September names the same yarn.',
      confidence: 0.93,
      evidence: [],
    }),
  )
  const data = mkdtempSync(join(tmpdir(), 'heddle-screenshots-'))
  // When root runs this script, the database runs as another user, who must be able to enter the folder.
  chmodSync(data, 0o755)
  const child = spawn(process.execPath, [join(root, 'server', 'main.mjs')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      PORT: '0',
      HEDDLE_DATA_DIR: data,
      HEDDLE_DEMO: 'off',
      HEDDLE_RATE_LIMITS: 'off',
      HEDDLE_OPERATORS: 'op@example.com',
      LLM_PROVIDER: 'openai-compatible',
      LLM_MODEL: 'house-model',
      LLM_API_KEY: FAKE_KEY,
      LLM_BASE_URL: fake.baseUrl,
    },
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  let said = ''
  const base = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text
      const ready = /heddle ready on (\S+)/.exec(said)
      if (ready) resolve(ready[1]!)
    })
    child.once('close', () => reject(new Error(said)))
  })
  return {
    base,
    claim: /claim_\w+/.exec(said)?.[0],
    async stop() {
      child.kill('SIGTERM')
      await ended
      await fake.close()
      rmSync(data, { recursive: true, force: true })
    },
  }
}

async function signedIn(browser: Browser, base: string, email: string): Promise<BrowserContext> {
  const context = await browser.newContext({ baseURL: base, reducedMotion: 'reduce' })
  const answer = await context.request.post('/auth/sign-in', { data: { email, password: PASSWORD } })
  if (!answer.ok()) throw new Error(await answer.text())
  return context
}

type Look = { width: number; height: number; colorScheme: 'light' | 'dark' }

async function open(page: Page, shot: Shot): Promise<void> {
  await page.goto(shot.path)
  if (shot.ready !== '') await page.getByText(shot.ready).first().waitFor({ timeout: 10_000 })
  await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
  await page.waitForLoadState('networkidle')
  await shot.before?.(page)
}

async function settle(page: Page, { width, height, colorScheme }: Look): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
  await page.setViewportSize({ width, height })
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 400)))
}

async function takeAll(page: Page, shots: Shot[], directory: string, word: string): Promise<void> {
  for (const shot of shots.filter(({ name }) => new RegExp(word).test(name))) {
    for (const width of [1440, 390]) {
      await settle(page, { width, height: width === 390 ? 844 : 900, colorScheme: 'light' })
      try {
        await open(page, shot)
      } catch (error) {
        console.error(`${shot.name}: ${String(error).slice(0, 200)}`)
      }
      for (const colorScheme of ['light', 'dark'] as const) {
        await settle(page, { width, height: width === 390 ? 844 : 900, colorScheme })
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
        if (wide > 0) console.error(`${shot.name} at ${width}: ${wide} px too wide`)
        await page.screenshot({ path: join(directory, `${shot.name}-${width}-${colorScheme}.png`) })
      }
    }
  }
}

async function takePictures(page: Page, shown: Shown): Promise<void> {
  const directory = join(root, 'docs', 'images')
  mkdirSync(directory, { recursive: true })
  for (const shot of pictures(shown)) {
    const [width, height] = shot.name === 'editor' ? [1600, 940] : [1280, 800]
    const look = { width, height, colorScheme: 'light' } as const
    await settle(page, look)
    await open(page, shot)
    await settle(page, look)
    await page.mouse.move(0, 0)
    writeFileSync(join(directory, `${shot.name}.webp`), await toWebp(page, await page.screenshot()))
  }
}

/**
 * Converts a PNG to WebP, a third of its size. The browser that took the picture encodes it, on a page that allows
 * data: addresses.
 */
async function toWebp(page: Page, png: Buffer): Promise<Buffer> {
  const blank = await page.context().newPage()
  const address = await blank.evaluate(async (data) => {
    const image = new Image()
    image.src = `data:image/png;base64,${data}`
    await image.decode()
    const canvas = new OffscreenCanvas(image.width, image.height)
    canvas.getContext('2d')!.drawImage(image, 0, 0)
    const blob = await canvas.convertToBlob({ type: 'image/webp', quality: 0.9 })
    return btoa(String.fromCharCode(...new Uint8Array(await blob.arrayBuffer())))
  }, png.toString('base64'))
  await blank.close()
  return Buffer.from(address, 'base64')
}

const executable = chromiumPath()
if (!executable) process.exit(1)
const program = await startProgram()
const browser = await launchChromium(executable)
try {
  const shown = await fillShowcase(program.base, { agents: true, ...(program.claim && { claim: program.claim }) })
  const page = await (await signedIn(browser, program.base, shown.owner)).newPage()
  page.on('pageerror', (error) => console.error(String(error.stack)))
  const [mode, directory, word = ''] = process.argv.slice(2)
  if (mode === '--all' && directory) {
    mkdirSync(directory, { recursive: true })
    await takeAll(page, pages(shown), directory, word)
    const operator = await signedIn(browser, program.base, shown.operator)
    await takeAll(await operator.newPage(), operatorPages, directory, word)
    const nobody = await browser.newContext({ baseURL: program.base })
    const wayIn = ['sign-in', 'sign-up', 'invitations/ivt_1'].map((path) => ({
      name: path,
      path: `/${path}`,
      ready: '',
    }))
    await takeAll(
      await nobody.newPage(),
      wayIn.map((shot) => ({ ...shot, name: shot.name.replace('/', '-') })),
      directory,
      word,
    )
    const account = { email: 'new@example.com', password: PASSWORD, name: 'Eve New', workspace_name: 'Eve’s place' }
    await nobody.request.post('/auth/sign-up', { data: account })
    await takeAll(await nobody.newPage(), emptyPages, directory, word)
  } else await takePictures(page, shown)
} finally {
  await browser.close()
  await program.stop()
}
process.exit(0)
