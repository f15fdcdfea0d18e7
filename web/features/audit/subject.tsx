import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { AuditEntry } from '#sdk/types.generated'
import { api } from '#web/api.ts'
import { cx } from '#web/ui/cx.ts'
import { ShortId } from '#web/ui/short-id.tsx'
import { t } from '#web/words/language.ts'
import { PersonName } from '../people/names.tsx'

// The subject of an entry, by the name under which the reader finds it elsewhere. The log contains only ids: a subject
// that was deleted, or that the reader may not see, is shown by its kind.

type Kind = {
  shown: string
  /** The address of its page, if it has one. */
  page?: string
  names?: () => Promise<ReadonlyMap<string, string>>
}

const MOST = 200

const namesBy = <K extends string>(
  items: readonly (Record<K, string> & { name: string | null })[],
  key: K,
): ReadonlyMap<string, string> =>
  new Map(items.flatMap((item) => (item.name === null ? [] : [[item[key], item.name] as const])))

const kinds: Readonly<Record<string, Kind>> = {
  wf: {
    shown: t('Workflow'),
    page: '/workflows',
    names: async () => namesBy((await api.listWorkflows({ scope: 'workspace', limit: MOST })).items, 'workflow_id'),
  },
  team: {
    shown: t('Team'),
    page: '/teams',
    names: async () => namesBy((await api.listTeams({ limit: MOST })).items, 'team_id'),
  },
  cred: {
    shown: t('Credential'),
    page: '/credentials',
    names: async () => namesBy((await api.listCredentials({ limit: MOST })).items, 'credential_id'),
  },
  conn: {
    shown: t('Connection'),
    page: '/connections',
    names: async () => namesBy((await api.listConnections({})).items, 'connection_id'),
  },
  ds: {
    shown: t('Dataset'),
    page: '/datasets',
    names: async () => namesBy((await api.listDatasets({ limit: MOST })).items, 'dataset_id'),
  },
  job: {
    shown: t('Job'),
    page: '/jobs',
    names: async () => namesBy((await api.listJobs({ limit: MOST })).items, 'job_id'),
  },
  tmpl: {
    shown: t('Template'),
    page: '/templates',
    names: async () => namesBy((await api.listTemplates({ limit: MOST })).items, 'template_id'),
  },
  kb: {
    shown: t('Knowledge base'),
    page: '/knowledge',
    names: async () => namesBy((await api.listKnowledge({ limit: MOST })).items, 'knowledge_id'),
  },
  co: {
    shown: t('Company'),
    page: '/companies',
    names: async () => namesBy((await api.listCompanies({ limit: MOST })).items, 'company_id'),
  },
  ws: {
    shown: t('Workspace'),
    page: '/workspaces',
    names: async () => namesBy((await api.listWorkspaces({ limit: MOST })).items, 'workspace_id'),
  },
  dest: { shown: t('Destination'), page: '/destinations' },
  exe: { shown: t('A run'), page: '/runs' },
  apr: { shown: t('Approval'), page: '/approvals' },
  thr: { shown: t('Thread'), page: '/threads' },
  suite: { shown: t('Suite'), page: '/suites' },
  chan: {
    shown: t('Channel'),
    page: '/channels',
    names: async () => namesBy((await api.listChannelConfigs({ limit: MOST })).items, 'config_id'),
  },
  wfv: { shown: t('Version') },
  sub: { shown: t('Subscription') },
  key: { shown: t('API key') },
  ses: { shown: t('Session') },
  trg: { shown: t('Trigger') },
  sch: { shown: t('Schedule') },
  whk: { shown: t('Webhook') },
  ivt: { shown: t('Invitation') },
  ntf: { shown: t('Notification') },
  alr: { shown: t('Alert rule') },
  file: { shown: t('File') },
  src: { shown: t('Source') },
  svc: { shown: t('Service') },
  doc: { shown: t('Document') },
  cmt: { shown: t('Comment') },
  emb: { shown: t('Embed token') },
  pm: { shown: t('Payment method') },
  plan: { shown: t('Plan') },
  psk: { shown: t('Passkey') },
}

/** What operators viewed, for entries that name a listing. */
const listings: Readonly<Record<string, string>> = {
  companies: 'All companies',
  teams: 'All teams',
  subscriptions: 'All subscription records',
  notifications: 'All notifications',
  presence: 'Presence of all people',
  audit_log: 'Audit log of all tenants',
  outbox: 'Outbox of mails',
}

const prefixOf = (subject: string): string => /^([a-z]+)_[0-9a-z]{26}$/.exec(subject)?.[1] ?? ''

/** Returns the name that the entry itself stores, such as the name of a key or of something deleted. */
const recordedName = ({ data }: AuditEntry): string | undefined =>
  typeof data.name === 'string' && data.name !== '' ? data.name : undefined

export function Subject({ entry, isForeign }: { entry: AuditEntry; isForeign: boolean }) {
  const { subject } = entry
  const recorded = recordedName(entry)
  const prefix = prefixOf(subject ?? '')
  const kind = kinds[prefix]
  const { data } = useQuery({
    queryKey: ['names', prefix],
    queryFn: () => kind!.names!(),
    enabled: kind?.names !== undefined && !isForeign,
    staleTime: 60_000,
  })
  if (subject === null) return recorded ?? '–'
  if (prefix === 'usr' && !isForeign) return <PersonName id={subject} />
  if (prefix === '') return listings[subject] ?? subject
  const known = data?.get(subject)
  if (!kind || isForeign) return recorded ? <span title={subject}>{recorded}</span> : <ShortId id={subject} />
  const name = known ?? recorded
  const hasPage = kind.page !== undefined && (known !== undefined || kind.names === undefined)
  return (
    <span className="flex min-w-0 items-center gap-2" title={subject}>
      {hasPage ? (
        <Link to={`${kind.page}/${subject}`} className="truncate text-accent hover:underline">
          {name ?? kind.shown}
        </Link>
      ) : (
        <span className={cx('truncate', name === undefined && 'text-ink-2')}>{name ?? kind.shown}</span>
      )}
      {name === undefined && <ShortId id={subject} />}
    </span>
  )
}
