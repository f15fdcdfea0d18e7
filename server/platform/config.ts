import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { type Role, readArguments } from './arguments.ts'
import {
  addressWith,
  databaseAddress,
  emails,
  integer,
  key32,
  list,
  oidcProviders,
  oneOf,
  origins,
  type Parser,
  proxies,
  secretText,
  serviceAddress,
  targets,
  text,
  webAddress,
} from './config-parsers.ts'
import { DEFAULT_CONNECTIONS, MIN_CONNECTIONS } from './db/connections.ts'

// Every setting, read once from the environment. docs/settings.md is generated from this table.

export type { OidcProvider } from './config-parsers.ts'

type Setting<T> = { parser: Parser<T>; default: T | null; shown: string; meaning: string }
const setting = <T>(parser: Parser<T>, fallback: T, meaning: string, shown?: string): Setting<T> => ({
  parser,
  default: fallback,
  shown: shown ?? (Array.isArray(fallback) ? 'empty' : String(fallback)),
  meaning,
})
const optional = <T>(parser: Parser<T>, meaning: string, shown = 'none'): Setting<T> & { default: null } => ({
  parser,
  default: null,
  shown,
  meaning,
})

/**
 * The database needs the other half of the cores. On two cores a second process was not faster: see
 * docs/performance.md.
 */
function defaultProcesses(): number {
  return Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2)))
}

export const settings = {
  HOST: setting(text, '127.0.0.1', 'Address to listen on'),
  PORT: setting(integer(0, 65_535), 4100, 'Port to listen on; 0 picks a free one and prints it'),
  HEDDLE_BASE_URL: optional(
    serviceAddress,
    'Public address of the service, for links in invitations and mails',
    'http://HOST:PORT',
  ),
  DATABASE_URL: optional(
    databaseAddress,
    'External PostgreSQL 16 or newer; its user must be allowed to create roles. Several hosts can be given, separated by commas: the service uses the one that accepts writes, also after a failover',
    'none: the program runs its own PostgreSQL',
  ),
  DATABASE_SESSION_URL: optional(
    databaseAddress,
    'Direct address of the same database if `DATABASE_URL` is that of a pooler, for operations that need a session: roles, migrations and LISTEN',
    'DATABASE_URL',
  ),
  HEDDLE_DATABASE_CONNECTIONS: optional(
    integer(MIN_CONNECTIONS, 1000),
    'Maximum number of database connections of this process',
    `${DEFAULT_CONNECTIONS.all}; with \`--role\` api or worker ${DEFAULT_CONNECTIONS.api}`,
  ),
  HEDDLE_PROCESSES: setting(
    integer(1, 64),
    defaultProcesses(),
    'Number of processes that share the port, each with API and worker. A process that ends unexpectedly is replaced; SIGHUP replaces all processes, one after the other',
    'half of the processors, 1 to 4',
  ),
  HEDDLE_DATA_DIR: setting(text, './data', 'Directory for the embedded database, blobs and the generated key'),
  HEDDLE_SECRET_KEY: optional(
    key32,
    'Key that encrypts stored secrets; keep a copy of it',
    'generated into the data directory, mode 0600',
  ),
  HEDDLE_SIGN_UP: setting(oneOf('open', 'invite'), 'open', '`invite` closes sign-up: new people need an invitation'),
  HEDDLE_OPERATORS: setting(emails, [], 'E-mail addresses of operators'),
  HEDDLE_RATE_LIMITS: setting(oneOf('on', 'off'), 'on', 'Limits the rate of requests; `off` is for benchmarks'),
  HEDDLE_MAX_AT_WORK: setting(
    integer(1, 10_000),
    64,
    'Maximum number of requests processed at once; one tenant gets at most a 32nd of them while other tenants send requests. Eight times as many requests can wait, and the tenants take turns; further requests are refused with 503 `overloaded`',
  ),
  HEDDLE_CPU_S_PER_MINUTE: setting(
    integer(1, 86_400),
    60,
    'CPU seconds per minute for code and expressions of one workspace, unless its plan sets another number; work beyond it is delayed',
  ),
  HEDDLE_WAREHOUSE_PROCESSES: setting(
    integer(1, 256),
    8,
    'Maximum number of processes that access data warehouses, one connection each; one workspace uses at most a quarter of them',
  ),
  HEDDLE_DUCKDB_PROCESSES: setting(
    integer(1, 256),
    3,
    'Maximum number of processes that run DuckDB, with up to 832 MB each; one workspace uses at most a quarter of them, but always at least one',
  ),
  HEDDLE_ALLOW_TARGETS: setting(targets, [], 'Private addresses that outgoing requests of tenants may reach'),
  HEDDLE_TRUSTED_PROXIES: setting(proxies, [], 'Proxies whose `X-Forwarded-*` headers are trusted'),
  HEDDLE_CORS_ORIGINS: setting(
    origins,
    [],
    'Origins whose pages may call the API with an API key (`Authorization`), never with cookies; `*` allows every origin',
  ),
  HEDDLE_METRICS_TOKEN: optional(
    secretText(16),
    'Token that `GET /metrics` requires (`Authorization: Bearer`) for requests from other machines',
    'none: only requests from the same machine',
  ),
  HEDDLE_DEMO: setting(oneOf('on', 'off'), 'on', '`off` creates no demo workspace at the first start'),
  HEDDLE_DRAIN_S: setting(
    integer(0, 300),
    5,
    'Seconds after SIGTERM during which a process reports at `/readyz` that it is not ready and still answers requests',
  ),
  HEDDLE_ASSISTANT_WAIT_S: setting(
    integer(1, 90),
    20,
    'Seconds that an assistant waits for a workflow that it started; a later result is posted in the conversation',
  ),
  HEDDLE_LOG_LEVEL: setting(
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'info',
    'Lowest level that is logged',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(
    webAddress,
    'Address of an OpenTelemetry collector (OTLP over HTTP), without `/v1/traces`, such as `http://127.0.0.1:4318`',
    'none: nothing is sent',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: optional(text, 'Headers for the collector: `name=value`, separated by commas'),
  OTEL_SERVICE_NAME: setting(text, 'heddle', 'Service name of this installation in the collector'),
  HEDDLE_RETENTION_DAYS: setting(
    integer(1, 36_500),
    400,
    'Minimum number of days that ended executions, read notifications and the audit log are kept',
  ),
  HEDDLE_OIDC: setting(oidcProviders, [], 'OpenID Connect providers for sign-in'),
  HEDDLE_MAX_JSON_BYTES: setting(integer(1024, 1 << 30), 1 << 20, 'Largest JSON body'),
  HEDDLE_MAX_DATASET_BYTES: setting(
    integer(1024, 1 << 30),
    64 << 20,
    'Largest body when a dataset is created or replaced',
  ),
  HEDDLE_MAX_IMPORT_BYTES: setting(integer(1024, 2 ** 40), 512 << 20, 'Largest imported file'),
  HEDDLE_MAX_FILE_BYTES: setting(
    integer(1024, 2 ** 40),
    512 << 20,
    'Largest file that an execution may receive or create',
  ),
  HEDDLE_MAX_AUDIO_BYTES: setting(integer(1024, 1 << 30), 25 << 20, 'Largest audio clip'),
  HEDDLE_MAX_JSON_DEPTH: setting(integer(4, 1000), 64, 'Deepest nesting of JSON'),
  LLM_PROVIDER: optional(oneOf('openai', 'anthropic', 'google', 'openai-compatible'), 'Language model vendor'),
  LLM_MODEL: optional(text, 'Name of the language model'),
  LLM_MODELS: setting(list, [], 'Models that workflows may use besides `LLM_MODEL`; `*` allows every model'),
  LLM_API_KEY: optional(text, 'Key of the language model vendor'),
  LLM_FOR_TENANTS: setting(
    oneOf('open', 'closed'),
    'open',
    '`closed`: workspaces can use only their own language models (credentials of kind `llm`)',
  ),
  LLM_EMBEDDINGS_MODEL: optional(
    text,
    'Embedding model of `LLM_PROVIDER` (not Anthropic) for knowledge bases without their own credential',
  ),
  LLM_BASE_URL: optional(webAddress, 'Base address of the language model, with `/v1`'),
  SPEECH_BASE_URL: optional(
    webAddress,
    'Base address of an OpenAI-compatible service for speech and transcription, with `/v1`',
    'none: local models',
  ),
  SPEECH_API_KEY: optional(text, 'Key of the speech service'),
  SPEECH_NICENESS: setting(
    integer(0, 19),
    10,
    'Niceness of the local speech process: higher values give it a lower priority',
  ),
  STRIPE_SECRET_KEY: optional(text, 'Stripe key', 'none: built-in billing'),
  STRIPE_PUBLISHABLE_KEY: optional(
    text,
    'Publishable key of Stripe; the console needs it to show the card form of Stripe',
    'none: no card form with Stripe',
  ),
  STRIPE_WEBHOOK_SECRET: optional(text, 'Secret that signs the webhooks of Stripe'),
  STRIPE_API_BASE: optional(webAddress, 'Address of the Stripe API, for tests'),
  ODDS_API_KEY: optional(text, 'Key of The Odds API'),
  ODDS_API_BASE: setting(webAddress, 'https://api.the-odds-api.com', 'Address of The Odds API, without `/v4`'),
  SMTP_URL: optional(addressWith('smtp:', 'smtps:'), 'Mail server', 'none: mails are kept in the outbox table'),
  SMTP_FROM: setting(text, 'Heddle <heddle@localhost>', 'Sender of mails'),
  SLACK_API_BASE: setting(webAddress, 'https://slack.com/api', 'Address of the Slack API'),
  TELEGRAM_API_BASE: setting(webAddress, 'https://api.telegram.org', 'Address of the Telegram bot API'),
  WHATSAPP_API_BASE: setting(webAddress, 'https://graph.facebook.com', 'Address of the WhatsApp Cloud API'),
  DISCORD_API_BASE: setting(webAddress, 'https://discord.com/api', 'Address of the Discord API'),
  HEDDLE_PIECES: setting(
    list,
    ['*'],
    'Names of the pieces that workspaces may import, separated by commas; `*` allows all, `none` allows none',
    '*',
  ),
  HEDDLE_PIECES_MIRROR: optional(
    text,
    'Folder with packages of pieces and MCP servers, as written by `npm pack`; if set, nothing is fetched from the package registry',
    'none: the registry that npm is configured with',
  ),
  HEDDLE_MCP_PACKAGES: setting(
    list,
    [],
    'Names of the registry packages that workspaces may run as MCP servers (isolated, see `HEDDLE_WALL`), separated by commas; `*` allows all',
    'none',
  ),
  HEDDLE_WALL: setting(
    oneOf('namespaces', 'node'),
    'namespaces',
    'Isolation of third-party code. `namespaces` needs Linux with user namespaces; without them no third-party code runs. `node` is weaker: the code can open connections that bypass the service',
  ),
  HEDDLE_WALL_PROCESSES: setting(
    integer(1, 64),
    8,
    'Maximum number of processes that run third-party code at once; one workspace uses at most a quarter of them',
  ),
  S3_BUCKET: optional(text, 'Bucket for blobs', 'none: disk'),
  S3_ENDPOINT: optional(webAddress, 'Address of the S3 service'),
  S3_REGION: setting(text, 'us-east-1', 'Region of the bucket'),
  S3_ACCESS_KEY_ID: optional(text, 'Key id for the bucket'),
  S3_SECRET_ACCESS_KEY: optional(text, 'Secret key for the bucket'),
}

type Settings = typeof settings
export type Config = {
  readonly [Name in keyof Settings]: Settings[Name] extends Setting<infer T>
    ? Settings[Name] extends { default: null }
      ? T | null
      : T
    : never
} & {
  readonly role: Role
  /** The account whose password is replaced. If set, the program serves no requests. */
  readonly resetPassword: string | null
}
export type { Role }

export class SettingRefused extends Error {}

/** For an error that appears only when a setting is used. The message contains the text of the operating system. */
export const refuseSetting = (name: keyof Settings, value: string | number, why: unknown): SettingRefused =>
  new SettingRefused(
    isTaken(why)
      ? `${name} ${value} is used by another program. Stop that program, or set ${name} to another number.`
      : `${name} is not valid: ${value}: ${why instanceof Error ? why.message : why}`,
    { cause: why },
  )

const isTaken = (why: unknown): boolean =>
  why instanceof Error && ((why as { code?: string }).code === 'EADDRINUSE' || why.message === 'EADDRINUSE')

export function readConfig(env: NodeJS.ProcessEnv, argv: string[] = []): Config {
  const values: Record<string, unknown> = {}
  for (const [name, { parser, default: fallback, shown }] of Object.entries(settings) as [string, Setting<unknown>][]) {
    const given = env[name]
    if (given === undefined || given === '') {
      values[name] = fallback
      continue
    }
    const value = parser.parse(given)
    if (value === undefined)
      throw new SettingRefused(`${name} is not valid. Allowed: ${parser.allowed}. Default: ${shown}.`)
    values[name] = value
  }
  values.HEDDLE_DATA_DIR = resolve(values.HEDDLE_DATA_DIR as string)
  const { role, resetPassword } = readArguments(argv)
  return { ...values, role, resetPassword } as Config
}

export const blobDirectory = (config: Config): string => join(config.HEDDLE_DATA_DIR, 'blobs')
