import type { Json, Node } from '#model/definition'
import { isObject } from '#model/json'
import { plural } from '#web/ui/format.ts'
import { formatSeconds } from '#web/ui/time-words.ts'
import { t } from '#web/words/language.ts'

// A short description of what a node does, from its arguments: the second line of its card.

const MAX_LENGTH = 60

/** Returns a literal unchanged, and an expression by what it reads. */
function said(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value.trim()
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (!isObject(value)) return undefined
  if (typeof value.$ref === 'string') return value.$ref
  return typeof value.$cel === 'string' ? value.$cel : undefined
}

const list = (value: Json | undefined): string | undefined =>
  Array.isArray(value) ? value.flatMap((item) => said(item) ?? []).join(', ') || undefined : said(value)

const count = (value: Json | undefined, one: string, many: string): string | undefined => {
  const length = Array.isArray(value) ? value.length : isObject(value) ? Object.keys(value).length : 0
  return length === 0 ? undefined : plural(length, one, many)
}

const host = (url: string): string => url.replace(/^https?:\/\//, '')

const summaries: Record<string, (args: Record<string, Json>) => string | undefined> = {
  'http.request': ({ method, url }) => {
    const address = said(url)
    return address && `${said(method) ?? 'GET'} ${host(address)}`
  },
  set: ({ values }) => (isObject(values) ? Object.keys(values).join(', ') || undefined : said(values)),
  branch: ({ cases }) => count(cases, t('case'), t('cases')),
  map: ({ items }) => said(items) && t('each of {0}', [said(items)]),
  loop: (args) =>
    said(args.while) ? t('while {0}', [said(args.while)]) : said(args.until) && t('until {0}', [said(args.until)]),
  wait: ({ for_s, until }) => {
    if (typeof for_s === 'number') return formatSeconds(for_s)
    return said(for_s) ? `${said(for_s)} s` : said(until) && t('until {0}', [said(until)])
  },
  'wait.event': ({ key }) => said(key),
  fail: ({ message }) => said(message),
  'mail.send': ({ to, subject }) => [list(to), said(subject)].filter(Boolean).join(': ') || undefined,
  approval: ({ title }) => said(title),
  clarification: ({ question }) => said(question),
  'llm.generate': ({ prompt }) => said(prompt),
  'llm.extract': ({ text }) => said(text),
  'llm.classify': ({ text }) => said(text),
  'agent.run': ({ goal, prompt }) => said(goal) ?? said(prompt),
  'service.call': ({ service, action }) => [said(service), said(action)].filter(Boolean).join(' · ') || undefined,
  'state.get': ({ key }) => said(key),
  'state.set': ({ key }) => said(key),
  'mcp.call': ({ tool }) => said(tool),
  'knowledge.search': ({ q }) => said(q),
  'knowledge.add': ({ name, text }) => said(name) ?? said(text),
}

export function summaryOf({ type, args }: Pick<Node, 'type' | 'args'>): string | undefined {
  const text = summaries[type]?.(args ?? {})?.replaceAll(/\s+/g, ' ')
  if (text === undefined || text === '') return undefined
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH - 1)}…` : text
}
