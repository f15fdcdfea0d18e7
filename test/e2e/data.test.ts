import { describe, expect, it } from 'vitest'
import { eventually, navigateTo, noBrowser, useSite, type Visitor } from '#test/harness/site'

const hostile = `<img src=x onerror="window.hacked=1">`
const greet = {
  inputs: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  nodes: [{ id: 'greet', type: 'set', args: { values: { text: { $cel: '"Hello " + input.name' } } } }],
  edges: [],
  output: { $ref: 'nodes.greet.output.text' },
}

describe.skipIf(noBrowser)('data', () => {
  const site = useSite()

  const importFile = async ({ page }: Visitor, name: string, text: string): Promise<void> => {
    await page.getByLabel('File to import').setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) })
    await page.getByRole('button', { name: /^(Import|Try again)$/ }).click()
  }

  it('a CSV with an invalid line is refused with its line number; after the fix it is imported and a job processes it', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    await site().call(ada, 'POST', '/api/workflows', { name: 'Greet', definition: greet })
    await page.goto('/datasets')
    await page.getByRole('link', { name: 'Import a file' }).first().click()
    await importFile(ada, 'leads.csv', `name,score\nAda,1\nBob\nEve,3\n`)
    const refusal = page.getByRole('alert')
    await refusal.getByText(/Line 3/).waitFor()
    await refusal.getByText('Bob', { exact: true }).waitFor()

    const rows = Array.from({ length: 300 }, (_, n) => `Person ${n},${n}`).join('\n')
    await importFile(ada, 'leads.csv', `name,score\n"${hostile.replaceAll('"', '""')}",0\n${rows}\n`)
    await page.getByRole('cell', { name: 'Person 3', exact: true }).waitFor()
    await page.getByText('<img src=x').first().waitFor()
    await page.getByRole('link', { name: 'Profile' }).click()
    await page.getByText('Based on all 301 records.').waitFor()
    await page.locator('.recharts-bar-rectangle').first().waitFor()

    await page.goto('/jobs/new')
    await page.getByLabel('Name', { exact: true }).fill('Greet leads')
    await page.getByLabel('Workflow', { exact: true }).selectOption({ label: 'Greet' })
    await page.getByRole('combobox', { name: 'Data', exact: true }).selectOption({ label: 'leads (301 records)' })
    await page.getByRole('switch', { name: 'The whole record' }).click()
    await page.getByRole('button', { name: /Add the workflow's inputs/ }).click()
    await page.getByLabel('Results').selectOption('new')
    await page.getByLabel('New dataset name').fill('Greetings')
    await page.getByRole('button', { name: 'Create job' }).click()
    await page.getByRole('button', { name: 'Run now' }).click()
    await page.getByText('301 of 301 records').waitFor({ timeout: 60_000 })
    await eventually(() => page.getByText('Idle', { exact: true }).count()).toBeGreaterThan(0)
    await page.getByRole('link', { name: /^Succeeded 301/ }).click()
    await page.getByRole('link', { name: 'Run of record 1', exact: true }).waitFor()
    await navigateTo(page, '/datasets')
    await page.getByRole('link', { name: 'Greetings' }).click()
    await page.getByRole('cell', { name: 'Hello Person 3', exact: true }).waitFor()
    // The home page does not list the executions of a job.
    await navigateTo(page, '/')
    await page.getByText('Only jobs have run so far.').waitFor()
    await page.getByRole('link', { name: 'Runs of jobs' }).click()
    await page
      .getByRole('row', { name: /Greet.*a job/ })
      .first()
      .waitFor()
    expect(await page.evaluate('window.hacked')).toBeUndefined()
  })

  it('a job is paused, resumed and run from the list, which shows its next run', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const records = [{ name: 'Ada' }]
    const { dataset_id } = await site().call(ada, 'POST', '/api/datasets', { name: 'Few', records })
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', { name: 'Greet', definition: greet })
    const { job_id } = await site().call(ada, 'POST', '/api/enrichment-jobs', {
      name: 'Greet all',
      workflow_id,
      dataset_id,
      schedule: { cron: '30 6 1 1 *', timezone: 'Europe/Paris' },
    })
    const job = () => site().call(ada, 'GET', `/api/enrichment-jobs/${job_id}`)
    const choose = async (what: string): Promise<void> => {
      await page.getByRole('button', { name: 'Actions for Greet all' }).click()
      await page.getByRole('menuitem', { name: what }).click()
    }
    await page.goto('/jobs')
    await page.getByRole('row', { name: /Greet all.* never (?!–)\S/ }).waitFor()
    await choose('Pause')
    await eventually(async () => (await job()).status).toBe('paused')
    await choose('Resume')
    await eventually(async () => (await job()).status).toBe('idle')
    await choose('Run now')
    await eventually(async () => (await job()).last_run?.status).toBe('succeeded')
  })

  it('saving the settings of a job does not change where its results go', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const make = async (name: string): Promise<string> =>
      (await site().call(ada, 'POST', '/api/datasets', { name, records: [{ text: 'a' }] })).dataset_id
    const [old, results, young] = [await make('Old'), await make('Results'), await make('Young')]
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', { name: 'Greet', definition: greet })
    const { job_id } = await site().call(ada, 'POST', '/api/enrichment-jobs', {
      name: 'Greet',
      workflow_id,
      dataset_id: old,
      output: { dataset_id: results },
    })
    const output = async () => (await site().call(ada, 'GET', `/api/enrichment-jobs/${job_id}`)).output.dataset_id
    const asked = Promise.withResolvers<void>()
    await page.route(/\/api\/datasets\?/, async (route) => {
      await asked.promise
      await route.continue()
    })
    await page.goto(`/jobs/${job_id}/settings`)
    const into = page.getByLabel('Dataset', { exact: true })
    await into.waitFor()
    asked.resolve()
    await into.locator('option', { hasText: 'Young' }).waitFor({ state: 'attached' })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved. A run in progress').waitFor()
    expect(await output()).toBe(results)
    await into.selectOption(young)
    await page.getByRole('button', { name: 'Save' }).click()
    await eventually(output).toBe(young)
  })

  it('the ledger shows which records are unchanged and which records the condition excludes', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const records = [{ name: 'Ada' }, { name: 'Bob' }, { name: 'Eve' }]
    const { dataset_id } = await site().call(ada, 'POST', '/api/datasets', { name: 'Leads', records })
    const { job_id } = await site().call(ada, 'POST', '/api/enrichment-jobs', {
      name: 'Greet all but Bob',
      definition: greet,
      dataset_id,
      only_if: 'record.name != "Bob"',
    })
    const job = () => site().call(ada, 'GET', `/api/enrichment-jobs/${job_id}`)
    for (const done of [
      { succeeded: 2, skipped: 0, filtered: 1 },
      { succeeded: 0, skipped: 2, filtered: 1 },
    ]) {
      await site().call(ada, 'POST', `/api/enrichment-jobs/${job_id}/run-now`, {})
      await eventually(async () => (await job()).status).toBe('idle')
      expect((await job()).last_run.counts).toMatchObject(done)
    }
    await page.goto(`/jobs/${job_id}`)
    await page.getByRole('link', { name: 'Filtered out 1' }).waitFor()
    await page.getByRole('link', { name: 'Unchanged 2' }).click()
    const unchanged = page.getByRole('row', { name: /Unchanged.*An earlier run processed it with the same input/ })
    await eventually(() => unchanged.count()).toBe(2)
    await page.getByLabel('Status').selectOption('filtered')
    await page.getByRole('row', { name: /Filtered out.*It does not meet the condition of the job/ }).waitFor()
  })

  it('a connection is probed step by step, captured, revoked and re-armed', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    await page.goto('/connections/new?kind=postgres')
    await page.getByRole('textbox', { name: 'Name' }).fill('Nowhere')
    await page.getByLabel('Host').fill('10.0.0.1')
    await page.getByLabel('Database').fill('d')
    await page.getByLabel('User').fill('u')
    await page.getByLabel('Password').fill('p')
    expect(await page.getByLabel('Password').getAttribute('type')).toBe('password')
    await page.getByRole('button', { name: 'Test and save' }).click()
    await page.getByText('Nothing was saved.').waitFor()
    await page.getByText('Find the host (failed)').waitFor()

    await page.goto('/connections/new?kind=duckdb')
    await page.getByRole('textbox', { name: 'Name' }).fill('Numbers')
    await page.getByRole('button', { name: 'Test and save' }).click()
    await page.getByRole('button', { name: 'Add source' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Squares')
    await page.getByLabel('What to read').selectOption('query')
    await page.getByLabel('Query').fill('select n, n * n as square from range(10) t(n)')
    await page.getByRole('button', { name: 'Attach' }).click()
    await page.getByRole('button', { name: 'Capture Squares' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Capture' }).click()
    await page.getByRole('cell', { name: '81', exact: true }).waitFor()

    await page.goto('/connections')
    await page.getByRole('link', { name: 'Numbers' }).click()
    await page.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke credential' }).click()
    await page.getByText('The credential was revoked and erased.').waitFor()
    await page.getByRole('button', { name: 'Store a new credential' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Test and save' }).click()
    await page.getByRole('button', { name: 'Verify now' }).waitFor()
  })
})
