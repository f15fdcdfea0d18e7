import { isObject } from '#model/json'
import { type Exit, orEmpty, outputOf } from '../flow.ts'
import { NotConvertible } from '../js-ast.ts'
import { celOut, fieldsOut, member, type Out, pathOut, valueAlone } from '../out.ts'
import type { Step } from '../step.ts'
import { passOn } from './flow-nodes.ts'

const fileField = (item: Out, name: string): Out => member(member(item, 'binary'), name)
const ROWS: Record<string, string> = { csv: 'csv', xlsx: 'xlsx', xls: 'xlsx', ods: 'xlsx' }

export function extractFromFile(step: Step): Exit[] {
  const { p } = step
  const operation = String(p.operation ?? 'csv')
  const name = String(p.binaryPropertyName ?? 'data')
  const key = String(p.destinationKey ?? 'data')
  const options = isObject(p.options) ? p.options : {}
  if (operation === 'xls' || operation === 'ods')
    throw new NotConvertible(`files of the kind ${operation} cannot be read`)
  const many = operation in ROWS
  return step.each(
    ({ scope, add }) => {
      const file = step.guarded(valueAlone(fileField(scope.input.paired(), name)))
      if (many) {
        const id = add('file.convert', {
          file,
          from: ROWS[operation]!,
          to: 'rows',
          ...(options.headerRow === false && { header: false }),
          ...(typeof options.delimiter === 'string' &&
            options.delimiter.length === 1 && { delimiter: options.delimiter }),
          ...(typeof options.sheetName === 'string' &&
            !options.sheetName.startsWith('=') && { sheet: options.sheetName }),
        })
        return pathOut(['nodes', id, 'output', 'rows'])
      }
      if (operation === 'pdf' || operation === 'html')
        return fieldsOut({
          [operation === 'pdf' ? 'text' : key]: pathOut([
            'nodes',
            add('file.convert', { file, from: operation, to: 'text' }),
            'output',
            'text',
          ]),
        })
      const as = operation === 'fromJson' ? 'json' : operation === 'binaryToPropery' ? 'base64' : 'text'
      if (!['fromJson', 'binaryToPropery', 'text', 'xml', 'fromIcs', 'rtf'].includes(operation))
        throw new NotConvertible(`files of the kind ${operation.slice(0, 20)} cannot be read`)
      if (operation === 'fromIcs' || operation === 'rtf')
        throw new NotConvertible(`files of the kind ${operation} cannot be read`)
      const id = add('file.read', { file, as })
      return fieldsOut({ [key]: pathOut(['nodes', id, 'output', 'content']) })
    },
    { many },
  )
}

export function convertToFile(step: Step): Exit[] {
  const { p } = step
  const operation = String(p.operation ?? 'csv')
  const options = isObject(p.options) ? p.options : {}
  const field = String(p.binaryPropertyName ?? 'data')
  const asBinary = (file: Out): Out => fieldsOut({ binary: fieldsOut({ [field]: { ...file, isFile: true } }) })
  const fileName = (otherwise: string): string => {
    const given = String(options.fileName ?? '')
    return given === '' ? otherwise : given
  }
  if (
    ['csv', 'xlsx', 'xls', 'ods', 'html', 'rtf'].includes(operation) ||
    (operation === 'toJson' && p.mode !== 'each')
  ) {
    if (!['csv', 'xlsx', 'xls', 'toJson'].includes(operation))
      throw new NotConvertible(`files of the kind ${operation} cannot be written`)
    const to = operation === 'toJson' ? 'json' : operation === 'xls' ? 'xlsx' : operation
    const scope = step.scope(step.input.one ?? member(step.input.list, 0))
    const id = step.add('file.convert', {
      rows: step.guarded(celOut(orEmpty(step.input), 'list')),
      to,
      name: step.text(fileName(`file.${to}`), scope, 'fileName'),
    })
    const item = asBinary(pathOut(['nodes', id, 'output', 'file']))
    return [step.exit({ one: item, list: celOut(`[${item.cel}]`, 'list') })]
  }
  return step.each(({ scope, add }) => {
    const source = String(p.sourceProperty ?? 'data')
    const value = source.startsWith('=')
      ? step.out(source, scope, 'sourceProperty')
      : source.split('.').reduce<Out>((of, key) => member(of, key), scope.input.paired())
    if (operation === 'toBinary')
      return asBinary(
        outputOf(
          add('file.write', {
            name: step.text(fileName('file'), scope, 'fileName'),
            ...(typeof options.mimeType === 'string' && { media_type: step.text(options.mimeType, scope, 'mimeType') }),
            base64: step.guarded(value),
          }),
        ),
      )
    if (operation === 'toText')
      return asBinary(
        outputOf(
          add('file.write', { name: step.text(fileName('file.txt'), scope, 'fileName'), text: step.guarded(value) }),
        ),
      )
    if (operation === 'toJson')
      return asBinary(
        outputOf(
          add('file.write', {
            name: step.text(fileName('file.json'), scope, 'fileName'),
            json: step.guarded(scope.input.paired()),
          }),
        ),
      )
    throw new NotConvertible(`files of the kind ${operation.slice(0, 20)} cannot be written`)
  })
}

/** Converts XML to JSON through a file; JSON to XML has no counterpart. */
export function xml(step: Step): Exit[] {
  const { p } = step
  if (p.mode === 'jsonToxml') throw new NotConvertible('JSON cannot be written as XML')
  const name = String(p.dataPropertyName ?? 'data')
  return step.each(({ scope, add }) => {
    const text = member(scope.input.paired(), name)
    const file = add('file.write', { name: 'data.xml', media_type: 'application/xml', text: step.guarded(text) })
    step.remark('attributes are named "@name", and repeated elements are lists')
    return pathOut([
      'nodes',
      add('file.convert', { file: { $ref: `nodes.${file}.output` }, from: 'xml', to: 'json' }),
      'output',
      'json',
    ])
  })
}

/** Converts the spreadsheet node of older templates. */
export function spreadsheetFile(step: Step): Exit[] {
  const { p } = step
  if (p.operation === 'toFile') {
    const to = p.fileFormat === 'csv' ? 'csv' : 'xlsx'
    const id = step.add('file.convert', {
      rows: step.guarded(celOut(orEmpty(step.input), 'list')),
      to,
      name: `file.${to}`,
    })
    const item = fieldsOut({
      binary: fieldsOut({
        [String(p.binaryPropertyName ?? 'data')]: { ...pathOut(['nodes', id, 'output', 'file']), isFile: true },
      }),
    })
    return [step.exit({ one: item, list: celOut(`[${item.cel}]`, 'list') })]
  }
  return step.each(
    ({ scope, add }) =>
      pathOut([
        'nodes',
        add('file.convert', {
          file: step.guarded(valueAlone(fileField(scope.input.paired(), String(p.binaryPropertyName ?? 'data')))),
          to: 'rows',
        }),
        'output',
        'rows',
      ]),
    { many: true },
  )
}

/** Executions share no disk. A written file belongs to the execution; files on the disk of n8n are not available. */
export function diskFile(step: Step): Exit[] {
  const kind = step.node.type.split('.').at(-1)
  const isWriting = kind === 'writeBinaryFile' || (kind === 'readWriteFile' && step.p.operation === 'write')
  if (!isWriting) throw new NotConvertible('it reads a file from the disk of n8n')
  step.remark('the file is stored with the run and can be downloaded there; it is not written to a disk')
  return passOn(step)
}
