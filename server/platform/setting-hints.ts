import { suggestion } from '#model/nearest'
import { type Config, settings } from './config.ts'

// Lines for the operator about settings that have no effect. The program starts, because the other settings are valid.

/** Names that start like a setting but belong to the command line, the Compose file or the program itself. */
const OTHER_NAMES = new Set(['HEDDLE_BASE', 'HEDDLE_KEY', 'HEDDLE_WORKSPACE', 'HEDDLE_HOST', 'HEDDLE_UPSTREAMS'])
const OTHER_PREFIXES = ['HEDDLE_TEST_', 'HEDDLE_DEV_', 'HEDDLE_MEMBER']

/** Other programs use these prefixes too, so a name is reported only if it is almost the name of a setting. */
const SHARED_PREFIXES = /^(?:DATABASE|LLM|SPEECH|STRIPE|SMTP|S3)_/

/** Returns a line for each variable that looks like a setting and is none: a mistyped setting would have no effect. */
export function unknownSettings(env: NodeJS.ProcessEnv): string[] {
  const known = Object.keys(settings)
  return Object.keys(env)
    .filter((name) => !known.includes(name) && !OTHER_NAMES.has(name))
    .filter((name) => !OTHER_PREFIXES.some((prefix) => name.startsWith(prefix)))
    .map((name) => ({ name, meant: suggestSetting(name, known) }))
    .filter(({ name, meant }) => name.startsWith('HEDDLE_') || (SHARED_PREFIXES.test(name) && meant !== ''))
    .map(({ name, meant }) => `heddle: ${name} is not a setting and has no effect${meant}`)
}

function suggestSetting(name: string, known: string[]): string {
  const near = suggestion(name, known)
  if (near !== '' || !name.startsWith('HEDDLE_')) return near
  const short = name.slice('HEDDLE_'.length)
  return known.includes(short) ? `; did you mean "${short}"?` : ''
}

type Name = keyof typeof settings

/** Settings that need another one, and what happens without it. */
const NEEDS: readonly { settings: readonly Name[]; need: Name; otherwise: string }[] = [
  { settings: ['DATABASE_SESSION_URL'], need: 'DATABASE_URL', otherwise: 'the program runs its own PostgreSQL' },
  {
    settings: ['S3_ENDPOINT', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'],
    need: 'S3_BUCKET',
    otherwise: 'blobs are stored in HEDDLE_DATA_DIR',
  },
  { settings: ['S3_ACCESS_KEY_ID'], need: 'S3_SECRET_ACCESS_KEY', otherwise: 'the key id is not used' },
  { settings: ['S3_SECRET_ACCESS_KEY'], need: 'S3_ACCESS_KEY_ID', otherwise: 'the secret key is not used' },
  {
    settings: ['STRIPE_PUBLISHABLE_KEY', 'STRIPE_WEBHOOK_SECRET'],
    need: 'STRIPE_SECRET_KEY',
    otherwise: 'the built-in billing is used',
  },
  { settings: ['STRIPE_SECRET_KEY'], need: 'STRIPE_WEBHOOK_SECRET', otherwise: 'webhooks of Stripe are refused' },
  {
    settings: ['LLM_MODEL', 'LLM_API_KEY', 'LLM_BASE_URL', 'LLM_EMBEDDINGS_MODEL'],
    need: 'LLM_PROVIDER',
    otherwise: 'no language model is used',
  },
  { settings: ['SPEECH_API_KEY'], need: 'SPEECH_BASE_URL', otherwise: 'the local speech models are used' },
]

/** Returns a line for each setting that is not complete. */
export function incompleteSettings(config: Config): string[] {
  const lines = NEEDS.flatMap(({ settings: names, need, otherwise }) => {
    const given = names.filter((name) => config[name] !== null)
    return given.length === 0 || config[need] !== null
      ? []
      : [`heddle: ${given.join(' and ')} without ${need}: ${otherwise}`]
  })
  const { LLM_PROVIDER: vendor, LLM_MODEL, LLM_EMBEDDINGS_MODEL, LLM_API_KEY, LLM_BASE_URL } = config
  if (vendor !== null && LLM_MODEL === null && LLM_EMBEDDINGS_MODEL === null)
    lines.push('heddle: LLM_PROVIDER without LLM_MODEL: no language model is used')
  else if (vendor === 'openai-compatible' && LLM_BASE_URL === null)
    lines.push('heddle: LLM_PROVIDER openai-compatible without LLM_BASE_URL: no language model is used')
  else if (vendor !== null && LLM_API_KEY === null && LLM_BASE_URL === null)
    lines.push('heddle: LLM_PROVIDER without LLM_API_KEY: no language model is used')
  return lines
}
