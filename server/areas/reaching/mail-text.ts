import type { GateOrQuestion } from '#areas/approvals/gate-or-question'
import { toStorableText } from '#model/storable'
import type { MailWords } from '#platform/mail-language'

// The mail about a gate, a question or a notice. Tenants wrote everything in it except the addresses.

/**
 * The maximum length of a payload in a mail. A longer payload is shown on the page, since no person should vote on only
 * a part of it.
 */
export const MAX_SHOWN = 4000

export type MailParts = {
  title: string
  body: string | null
  workspace: string
  /** Absent for a notice that requires no answer. */
  asked?: { matter: GateOrQuestion; answerUrl: string; expiresAt: Date }
  consoleUrl: string
  preferencesUrl: string
}

const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** A longer question may be cut in the title of its message. */
const MAX_QUESTION_IN_TITLE = 200

const contentOf = ({ kind, title, payload }: GateOrQuestion): string => {
  if (kind === 'clarification') return title.length <= MAX_QUESTION_IN_TITLE ? '' : title
  if (payload === null) return ''
  return typeof payload === 'string' ? payload : JSON.stringify(payload, null, 2)
}

/** Returns the payload, or a question that is too long for a title, as text, and whether the text is complete. */
export function shownOf(matter: GateOrQuestion, most = MAX_SHOWN): { text: string; isWhole: boolean } {
  const text = contentOf(matter)
  return text.length <= most ? { text, isWhole: true } : { text: `${toStorableText(text, most)}…`, isWhole: false }
}

type Button = { label: string; url: string }

function buttonsOf(
  { matter, answerUrl }: NonNullable<MailParts['asked']>,
  isWhole: boolean,
  { say }: MailWords,
): Button[] {
  if (matter.kind === 'clarification') return [{ label: say('Answer'), url: answerUrl }]
  if (!isWhole) return [{ label: say('Read everything and vote'), url: answerUrl }]
  return [
    { label: say('Approve'), url: `${answerUrl}?decision=approve` },
    { label: say('Reject'), url: `${answerUrl}?decision=reject` },
  ]
}

export function mailOf(parts: MailParts, words: MailWords): { subject: string; text: string; html: string } {
  const { workspace, asked, consoleUrl, preferencesUrl } = parts
  const { say, notice } = words
  const title = notice(parts.title)
  const body = parts.body === null ? null : notice(parts.body)
  const shown = asked ? shownOf(asked.matter) : { text: '', isWhole: true }
  const buttons = asked ? buttonsOf(asked, shown.isWhole, words) : []
  const until = asked
    ? say(
        'The links are for you alone and work until {0}. They open a page; nothing happens before you confirm it there.',
        [asked.expiresAt.toISOString().slice(0, 10)],
      )
    : ''
  const hash = asked?.matter.kind === 'approval' ? say('Content: sha256 {0}', [asked.matter.sha256]) : ''
  const lines = [title, body ?? '', shown.text, hash, ...buttons.map(({ label, url }) => `${label}: ${url}`), until]
  const foot = [
    say('Workspace: {0}', [workspace]),
    say('In the console: {0}', [consoleUrl]),
    say('Mail settings: {0}', [preferencesUrl]),
  ]
  const text = [...lines.filter((line) => line !== ''), foot.join('\n')].join('\n\n')
  const html = `<!doctype html><html lang="${words.language}"><body style="font-family:sans-serif;line-height:1.5">
<p style="font-size:1.1em"><strong>${escapeHtml(title)}</strong></p>
${body ? `<p>${escapeHtml(body)}</p>` : ''}
${shown.text ? `<pre style="background:#f4f4f5;padding:12px;white-space:pre-wrap">${escapeHtml(shown.text)}</pre>` : ''}
${hash ? `<p style="color:#71717a;font-size:.8em">${escapeHtml(hash)}</p>` : ''}
${buttons.map(({ label, url }) => `<a href="${escapeHtml(url)}" style="display:inline-block;padding:8px 16px;margin-right:8px;border:1px solid #71717a;border-radius:6px;text-decoration:none">${escapeHtml(label)}</a>`).join('\n')}
<p style="color:#71717a;font-size:.85em">${escapeHtml(until)}</p>
<p style="color:#71717a;font-size:.85em">${escapeHtml(workspace)} · <a href="${escapeHtml(consoleUrl)}">${escapeHtml(say('Open in the console'))}</a> · <a href="${escapeHtml(preferencesUrl)}">${escapeHtml(say('Mail settings'))}</a></p>
</body></html>`
  return { subject: toStorableText(oneLine(title), 300), text, html }
}
