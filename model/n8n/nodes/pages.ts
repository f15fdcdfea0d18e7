import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { type Exit, ofOne, orEmpty, outputOf } from '../flow.ts'
import { NotConvertible, NotFilled } from '../js-ast.ts'
import { listOf } from '../lenient.ts'
import { celOut, member, type Out, pathOut } from '../out.ts'
import type { Step } from '../step.ts'
import { HTML_READER } from './html-source.ts'

// Pages: HTML that is generated or parsed, and the pages of a form.

export function html(step: Step): Exit[] {
  const { p } = step
  const isOld = step.node.type.endsWith('.htmlExtract')
  const operation = String(p.operation ?? (isOld ? 'extractHtmlContent' : 'generateHtmlTemplate'))
  if (operation === 'generateHtmlTemplate' || operation === 'generateHtmlTemplateV2')
    return step.each((at) => {
      // n8n evaluates expressions in this field without a leading `=`.
      const text = String(p.html ?? '')
      const value = step.text(text.startsWith('=') ? text : `=${text}`, at.scope, 'html')
      return outputOf(at.add('set', { values: { html: value } }))
    })
  if (operation === 'convertToHtmlTable') return table(step)
  if (operation !== 'extractHtmlContent')
    throw new NotConvertible(`the operation "${operation.slice(0, 40)}" of html has no counterpart`)
  const values = listOf(isObject(p.extractionValues) ? p.extractionValues.values : undefined)
  if (values.length === 0) throw new NotFilled('it names nothing to extract')
  const field = String(p.dataPropertyName ?? 'data')
  const options = isObject(p.options) ? p.options : {}
  return step.each((at) => {
    const item = at.scope.input.paired()
    const source: Json =
      p.sourceData === 'binary'
        ? { $ref: `nodes.${fileText(step, at, item, field)}.output.content` }
        : step.guarded(field.split('.').reduce<Out>((of, key) => member(of, key), item))
    const wanted = values.map((one) => ({
      key: step.text(one.key, at.scope, 'field'),
      selector: step.text(one.cssSelector, at.scope, 'cssSelector'),
      kind: String(one.returnValue ?? 'text'),
      attribute: step.text(one.attribute ?? '', at.scope, 'attribute'),
      list: one.returnArray === true,
      skip: step.text(one.skipSelectors ?? '', at.scope, 'skipSelectors'),
    }))
    const id = at.add('code', {
      input: { html: source, wanted: wanted as unknown as Json[], trim: options.trimValues !== false },
      source: `${HTML_READER}
const pages = [input.html].flat().map((text) => parseHtml(String(text ?? '')))
const read = (element, { kind, attribute, skip }) => {
  const value = kind === 'html' ? innerHtml(element) : kind === 'attribute' || kind === 'value' ? element.attributes[kind === 'value' ? 'value' : attribute] : textOf(element, skip ? new Set(select(element, skip)) : new Set())
  return typeof value === 'string' && input.trim ? value.trim() : (value ?? null)
}
const result = {}
for (const one of input.wanted) {
  const found = pages.flatMap((page) => select(page, one.selector)).map((element) => read(element, one))
  result[one.key] = one.list ? found : one.kind === 'text' ? found.join('') : (found[0] ?? null)
}
return result`,
      limits: { time_ms: 10_000 },
    })
    return outputOf(id)
  })
}

function fileText(
  step: Step,
  { add }: { add(type: string, args: JsonObject): string },
  item: Out,
  field: string,
): string {
  const file = member(member(item, 'binary'), field)
  return add('file.read', { file: step.guarded(file.path ? pathOut(file.path) : celOut(file.cel)), as: 'text' })
}

function table(step: Step): Exit[] {
  const options = isObject(step.p.options) ? step.p.options : {}
  step.add('code', {
    input: { items: step.guarded(celOut(orEmpty(step.input), 'list')) },
    source: `const escape = (value) => String(value ?? '').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
const text = (value) => (typeof value === 'object' && value !== null ? JSON.stringify(value) : value)
const capital = (name) => ${options.capitalize === true ? 'name[0].toUpperCase() + name.slice(1)' : 'name'}
const names = [...new Set(input.items.flatMap((item) => Object.keys(item)))]
const row = (item) => '<tr>' + names.map((name) => '<td>' + escape(text(item[name])) + '</td>').join('') + '</tr>'
return { table: '<table><thead><tr>' + names.map((name) => '<th>' + escape(capital(name)) + '</th>').join('') + '</tr></thead><tbody>' + input.items.map(row).join('') + '</tbody></table>' }`,
  })
  return [step.exit(ofOne(outputOf(step.id)))]
}

/** Converts a form page: the last page answers the person who sent the form; an earlier page waits for its fields. */
export function form(step: Step): Exit[] {
  const { p } = step
  const scope = step.scope(step.input.one ?? member(step.input.list, 0))
  if (p.operation === 'completion') {
    step.remark('it answers the form: give the webhook token of the form {"respond": "node"}')
    const kind = String(p.respondWith ?? 'text')
    if (kind === 'redirect')
      step.add('http.respond', {
        status: 302,
        headers: { Location: step.text(p.redirectUrl, scope, 'redirectUrl') },
        body: '',
      })
    else if (kind === 'showText')
      step.add('http.respond', {
        headers: { 'Content-Type': 'text/html; charset=utf-8' },
        body: step.text(p.responseText, scope, 'responseText'),
      })
    else if (kind === 'returnBinary') throw new NotConvertible('it answers with a file')
    else
      step.add('http.respond', {
        headers: { 'Content-Type': 'text/plain; charset=utf-8' },
        body: step.guarded(
          celOut(
            [p.completionTitle, p.completionMessage]
              .filter((part) => part !== undefined && part !== '')
              .map((part) => `string(${step.out(part, scope, 'completionMessage').cel})`)
              .join(' + "\\n\\n" + ') || '""',
            'text',
          ),
        ),
      })
    return [step.exit(step.passed())]
  }
  step.remark('the next page of the form: send its fields as JSON to the address of this node, callbacks.<id>.url')
  step.add('wait.event', {})
  const data = pathOut(['nodes', step.id, 'output', 'data'])
  return [step.exit(ofOne(data))]
}
