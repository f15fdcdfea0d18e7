import type { Page } from 'playwright-core'
import type { Shown } from './fill.ts'

// Every page of the console, with a text that stands on it once it is there.

export type Shot = { name: string; path: string; ready: string; before?: (page: Page) => Promise<void> }

const showAll = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'Fit to screen (F)' }).click()
}

/** What README and docs show. */
export const pictures = ({ at }: Shown): Shot[] => [
  {
    name: 'editor',
    path: `${at.workflow}/editor`,
    ready: 'Finance approves',
    before: async (page) => {
      await showAll(page)
      await page.locator('[data-node="approve"]').click()
    },
  },
  { name: 'run', path: at.run!, ready: 'Finance approves' },
  { name: 'approvals', path: at.gate!, ready: 'Content under review' },
  { name: 'job', path: at.job!, ready: 'records' },
]

export const pages = ({ at }: Shown): Shot[] => [
  { name: 'home', path: '/', ready: 'Recent runs' },
  { name: 'workflows', path: '/workflows', ready: 'Supplier invoice' },
  { name: 'workflow-new', path: '/workflows/new', ready: 'Expense approval' },
  { name: 'workflow', path: at.workflow!, ready: 'Recent runs' },
  { name: 'workflow-versions', path: `${at.score}/versions`, ready: 'active' },
  { name: 'workflow-runs', path: `${at.workflow}/runs`, ready: 'Waiting: approval' },
  { name: 'workflow-access', path: `${at.workflow}/access`, ready: 'Bookkeeping' },
  { name: 'workflow-replays', path: `${at.workflow}/replays`, ready: 'Compares a version' },
  { name: 'workflow-settings', path: `${at.workflow}/settings`, ready: 'When runs start' },
  { name: 'workflow-system', path: '/workflows/dataset-profile', ready: 'Your runs' },
  { name: 'editor', path: `${at.workflow}/editor`, ready: 'Finance approves' },
  {
    name: 'editor-node',
    path: `${at.workflow}/editor`,
    ready: 'Finance approves',
    before: async (page) => {
      await showAll(page)
      await page.locator('[data-node="approve"]').click()
    },
  },
  { name: 'insights', path: '/insights', ready: 'Runs over time' },
  { name: 'alerts', path: '/alerts', ready: 'No alert rules yet' },
  { name: 'budgets', path: '/budgets', ready: 'No budgets yet' },
  { name: 'runs', path: '/runs', ready: 'All runs you can see' },
  { name: 'run-succeeded', path: at.run!, ready: 'Finance approves' },
  { name: 'run-gate', path: at.run_gate!, ready: 'Content under review' },
  { name: 'run-question', path: at.run_question!, ready: 'Answer' },
  { name: 'run-timer', path: at.run_timer!, ready: 'Until the first day' },
  { name: 'run-failed', path: at.run_failed!, ready: 'rolls are missing' },
  { name: 'approvals', path: '/approvals', ready: 'Content under review' },
  { name: 'questions', path: '/questions', ready: 'Kept answers' },
  { name: 'notifications', path: '/notifications', ready: 'Stock of undyed' },
  { name: 'datasets', path: '/datasets', ready: 'Leads of October' },
  { name: 'datasets-import', path: '/datasets/import', ready: 'Import' },
  { name: 'datasets-new', path: '/datasets/new', ready: 'Records' },
  { name: 'dataset', path: at.dataset!, ready: 'Lyon' },
  { name: 'dataset-profile', path: `${at.dataset}/profile`, ready: 'Of all' },
  { name: 'dataset-settings', path: `${at.dataset}/settings`, ready: 'Delete' },
  { name: 'knowledge', path: '/knowledge', ready: 'No knowledge bases yet' },
  { name: 'connections', path: '/connections', ready: 'Mill warehouse' },
  { name: 'connections-new', path: '/connections/new', ready: 'PostgreSQL' },
  { name: 'approvals-decided', path: '/approvals/decided', ready: 'Your decisions' },
  { name: 'connections-new-kind', path: '/connections/new?kind=postgres', ready: 'Host' },
  { name: 'connection', path: at.connection!, ready: 'Shelves' },
  { name: 'variables', path: '/variables', ready: 'No variables yet' },
  { name: 'jobs', path: '/jobs', ready: 'Score the leads' },
  { name: 'jobs-new', path: '/jobs/new', ready: 'Create job' },
  { name: 'job', path: at.job!, ready: 'records' },
  { name: 'job-ledger', path: `${at.job}/ledger`, ready: 'Records of the newest run' },
  { name: 'job-members', path: `${at.job}/members`, ready: 'This job uses a workflow' },
  { name: 'job-settings', path: `${at.job}/settings`, ready: 'Delete' },
  { name: 'suites', path: '/suites', ready: 'Grades of known' },
  { name: 'suites-new', path: '/suites/new', ready: 'Checks' },
  { name: 'suite', path: at.suite!, ready: 'Grades of known' },
  { name: 'suite-report', path: at.report!, ready: 'passed' },
  { name: 'threads', path: '/threads', ready: 'Refunds above' },
  { name: 'conversations', path: '/conversations', ready: 'until somebody takes over' },
  { name: 'canned-answers', path: '/conversations/answers', ready: 'No canned answers yet' },
  { name: 'opening-hours', path: '/conversations/hours', ready: 'Set opening hours' },
  { name: 'thread', path: at.thread!, ready: 'Two more' },
  { name: 'thread-members', path: `${at.thread}/members`, ready: 'Charles' },
  { name: 'templates', path: '/templates', ready: 'Shop assistant' },
  { name: 'templates-new', path: '/templates/new', ready: 'Greeting' },
  { name: 'template', path: at.template!, ready: 'Greeting' },
  { name: 'template-widget', path: `${at.template}/widget`, ready: 'preview' },
  { name: 'template-channels', path: `${at.template}/channels`, ready: 'Help desk' },
  { name: 'channels', path: '/channels', ready: 'Help desk' },
  { name: 'channels-new', path: '/channels/new', ready: 'Telegram' },
  { name: 'channels-new-kind', path: '/channels/new?channel=slack', ready: 'Signing secret' },
  { name: 'channel', path: at.channel!, ready: 'test message' },
  { name: 'people', path: '/people', ready: 'Charles' },
  { name: 'teams', path: '/teams', ready: 'Finance' },
  { name: 'team', path: at.team!, ready: 'Mary' },
  { name: 'companies', path: '/companies', ready: 'Jacquard Holding' },
  { name: 'company', path: at.company!, ready: 'Jacquard Holding' },
  { name: 'workspace', path: at.workspace!, ready: 'Delete this workspace' },
  { name: 'keys', path: '/keys', ready: 'Bookkeeping export' },
  { name: 'authorize', path: '/oauth/authorize?client_id=x', ready: 'Could not load the request of the program' },
  { name: 'service-accounts', path: '/service-accounts', ready: 'No service accounts yet' },
  { name: 'billing', path: '/billing', ready: 'plan' },
  { name: 'billing-cards', path: '/billing/cards', ready: '4242' },
  { name: 'billing-invoices', path: '/billing/invoices', ready: 'Paid' },
  { name: 'billing-records', path: '/billing/records', ready: 'Yarn' },
  { name: 'billing-record', path: at.record!, ready: 'Yarn' },
  { name: 'audit', path: '/audit', ready: 'Changes in this workspace' },
  { name: 'account', path: '/account', ready: 'Sessions' },
  { name: 'nowhere', path: '/nowhere', ready: 'Page not found' },
  { name: 'run-unknown', path: '/runs/exe_01kf0000000000000000000000', ready: 'not' },
  { name: 'services', path: '/services', ready: 'Airtable' },
  { name: 'service', path: '/services/github', ready: 'Create an issue' },
]

export const operatorPages: Shot[] = ['engine', 'tenants', 'outbox', 'plans'].map((name) => ({
  name: `operators-${name}`,
  path: `/operators/${name}`,
  ready: name === 'tenants' ? 'Jacquard' : '',
}))

export const emptyPages: Shot[] = [
  '',
  'workflows',
  'runs',
  'approvals',
  'questions',
  'notifications',
  'datasets',
  'connections',
  'jobs',
  'suites',
  'threads',
  'templates',
  'channels',
  'people',
  'teams',
  'companies',
  'keys',
  'billing',
  'billing/cards',
  'billing/invoices',
  'billing/records',
  'audit',
].map((path) => ({ name: `empty-${path.replace('/', '-') || 'home'}`, path: `/${path}`, ready: '' }))
