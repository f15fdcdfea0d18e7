import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { patternOf, unitOf } from '../dates.ts'
import { type Exit, outputOf } from '../flow.ts'
import { NotConvertible } from '../js-ast.ts'
import { fieldsOut, type Out, pathOut, quote, textOf } from '../out.ts'
import type { Place, Step } from '../step.ts'

// Nodes that compute a value for each item: dates, hashes, Markdown.

/** Adds fields to each item. */
const withFields = ({ scope, add }: Place, step: Step, values: JsonObject): Out =>
  outputOf(
    add('code', {
      input: { item: step.guarded(scope.input.paired()), values },
      source: 'return { ...input.item, ...input.values }',
    }),
  )

export function dateTime(step: Step): Exit[] {
  const { p } = step
  const operation = String(
    p.operation ??
      (p.action === 'calculate'
        ? 'addToDate'
        : p.action === 'format' || p.format !== undefined
          ? 'formatDate'
          : 'getCurrentDate'),
  )
  return step.each((at) => {
    const { scope } = at
    const date = (raw: Json | undefined): string => {
      const out = step.out(raw, scope, 'date')
      return out.type === 'time' ? out.cel : `timestamp(${textOf(out)})`
    }
    const field = String(
      p.outputFieldName ??
        p.dataPropertyName ??
        {
          getCurrentDate: 'currentDate',
          formatDate: 'formattedDate',
          addToDate: 'newDate',
          subtractFromDate: 'newDate',
        }[operation] ??
        'date',
    )
    const given = p.date ?? p.magnitude ?? p.value
    const cel = (): string => {
      if (operation === 'getCurrentDate')
        return p.includeTime === false ? 'string(now().startOf("day"))' : 'string(now())'
      if (operation === 'formatDate') {
        const pattern =
          p.format === 'custom' || p.format === undefined
            ? String(p.customFormat ?? p.toFormat ?? 'yyyy-MM-dd')
            : String(p.format)
        return `${date(given)}.format(${quote(patternOf(pattern, p.toFormat === undefined ? 'luxon' : 'moment'))})`
      }
      if (operation === 'addToDate' || operation === 'subtractFromDate') {
        const sign = operation === 'subtractFromDate' || p.operation === 'subtract' ? '-' : ''
        return `string(${date(p.magnitude ?? given)}.add(${sign}${step.out(p.duration ?? 0, scope, 'duration').cel}, ${quote(unitOf(String(p.timeUnit ?? 'days')))}))`
      }
      throw new NotConvertible(`the operation "${operation.slice(0, 40)}" has no counterpart`)
    }
    const value = { $cel: cel() }
    const options = isObject(p.options) ? p.options : {}
    if (options.includeInputFields !== true && step.node.version >= 2)
      return outputOf(at.add('set', { values: { [field]: value } }))
    return withFields(at, step, { [field]: value })
  })
}

export function crypto(step: Step): Exit[] {
  const { p } = step
  const action = String(p.action ?? 'hash')
  const field = String(p.dataPropertyName ?? 'data')
  return step.each((at) => {
    const encoding = String(p.encoding ?? 'hex').toLowerCase()
    const value = textOf(step.out(p.value, at.scope, 'value'))
    if (action === 'generate') return withFields(at, step, { [field]: { $cel: 'uuid()' } })
    if (String(p.type ?? 'MD5') !== 'SHA256' || !['hex', 'base64'].includes(encoding))
      throw new NotConvertible(`${String(p.type ?? 'MD5').slice(0, 20)} is not supported; use SHA256`)
    if (action === 'hash') return withFields(at, step, { [field]: { $cel: `sha256(${value}, ${quote(encoding)})` } })
    throw new NotConvertible(`the key of "${action.slice(0, 20)}" belongs in a credential`)
  })
}

export function markdown(step: Step): Exit[] {
  const { p } = step
  const field = String(p.destinationKey ?? 'data')
  if (p.mode === 'markdownToHtml') {
    return step.each((at) =>
      outputOf(
        at.add('code', {
          input: { item: step.guarded(at.scope.input.paired()), text: step.text(p.markdown, at.scope, 'markdown') },
          source: `${TO_HTML}\nreturn { ...input.item, ${JSON.stringify(field)}: html(String(input.text ?? '')) }`,
        }),
      ),
    )
  }
  return step.each((at) => {
    const file = at.add('file.write', {
      name: 'page.html',
      media_type: 'text/html',
      text: step.text(p.html, at.scope, 'html'),
    })
    const read = at.add('file.convert', { file: { $ref: `nodes.${file}.output` }, from: 'html', to: 'text' })
    return fieldsOut({ [field]: pathOut(['nodes', read, 'output', 'text'], 'any') })
  })
}

/** Converts headings, lists, emphasis, code, links and paragraphs to HTML. */
const TO_HTML = `const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
const inline = (text) => escape(text)
  .replace(/\`([^\`]+)\`/g, '<code>$1</code>')
  .replace(/\\*\\*([^*]+)\\*\\*/g, '<strong>$1</strong>')
  .replace(/\\*([^*]+)\\*/g, '<em>$1</em>')
  .replace(/\\[([^\\]]+)\\]\\((https?:[^)\\s]+)\\)/g, '<a href="$2">$1</a>')
const html = (text) => text.split(/\\n{2,}/).map((block) => {
  const heading = /^(#{1,6})\\s+(.*)$/.exec(block)
  if (heading) return '<h' + heading[1].length + '>' + inline(heading[2]) + '</h' + heading[1].length + '>'
  const lines = block.split('\\n')
  if (lines.every((line) => /^\\s*[-*]\\s+/.test(line))) return '<ul>' + lines.map((line) => '<li>' + inline(line.replace(/^\\s*[-*]\\s+/, '')) + '</li>').join('') + '</ul>'
  if (lines.every((line) => /^\\s*\\d+\\.\\s+/.test(line))) return '<ol>' + lines.map((line) => '<li>' + inline(line.replace(/^\\s*\\d+\\.\\s+/, '')) + '</li>').join('') + '</ol>'
  return '<p>' + lines.map(inline).join('<br>') + '</p>'
}).join('\\n')`
