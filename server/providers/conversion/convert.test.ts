import { describe, expect, test } from 'vitest'
import { convert, type Task } from './convert.ts'
import { encodeFrame, makeFrameReader } from './frames.ts'
import { ConversionFailure, type Format, type Target } from './index.ts'
import { writeZip } from './zip.ts'

// Tests the results and the refusals of conversions. Tests of the service cover the process around them.

const of = (from: Format, to: Target, content: string | Buffer, options: Task['options'] = {}) =>
  convert({ from, to, options, inputs: [{ name: `a.${from}`, media_type: '', bytes: Buffer.from(content as string) }] })
    .then(({ value, files }) => value ?? files.map(({ name, bytes }) => [name, bytes.toString()]))
    .catch((error: unknown) => {
      if (error instanceof ConversionFailure) return `! ${error.code}`
      throw error
    })

const pdf = `%PDF-1.1
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 144]/Contents 4 0 R/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>endobj
4 0 obj<</Length 44>>stream
BT /F1 18 Tf 0 0 Td (Hello World) Tj ET
endstream
endobj
trailer<</Root 1 0 R>>`

test.each<[Format, Target, string, Task['options'], unknown]>([
  ['csv', 'rows', 'a;b\n1;"x;y"\n', {}, [{ a: '1', b: 'x;y' }]],
  [
    'csv',
    'rows',
    '\ufeffa,a,\n1,2,3\n4\n',
    {},
    [
      { a: '1', a_2: '2', column_3: '3' },
      { a: '4', a_2: null, column_3: null },
    ],
  ],
  ['csv', 'rows', '1,2\n', { header: false }, [{ column_1: '1', column_2: '2' }]],
  ['csv', 'rows', '__proto__\n1\n', {}, [{ column_1: '1' }]],
  ['csv', 'rows', '"a\n', {}, '! file_unreadable'],
  ['csv', 'rows', 'a|b\n1|2', { delimiter: '|' }, [{ a: '1', b: '2' }]],
  ['csv', 'json', 'a\n1\n', {}, [{ a: '1' }]],
  ['csv', 'rows', '"a,b,c";d\n1;2\n', {}, [{ 'a,b,c': '1', d: '2' }]],
  ['csv', 'rows', 'a\n""\n1\n', {}, [{ a: '' }, { a: '1' }]],
  ['json', 'csv', '[{"a": null}, {"a": 1}]', {}, [['a.csv', 'a\r\n""\r\n1\r\n']]],
  ['json', 'json', '{"a": 1}', {}, { a: 1 }],
  ['json', 'rows', '[{"a": 1}]', {}, [{ a: 1 }]],
  ['json', 'rows', '{"a": 1}', {}, '! file_unreadable'],
  ['json', 'json', '{', {}, '! file_unreadable'],
  ['json', 'csv', '[{"a": 1, "b": "x\\"y"}, {"c": [2]}]', {}, [['a.csv', 'a,b,c\r\n1,"x""y",\r\n,,[2]\r\n']]],
  [
    'xml',
    'json',
    '<?xml version="1.0"?><a x="1"><b>t</b><b>u &amp; &#228;</b><c/></a>',
    {},
    { a: { '@x': '1', b: ['t', 'u & ä'], c: '' } },
  ],
  ['xml', 'json', '<a><![CDATA[<b>]]></a>', {}, { a: '<b>' }],
  ['xml', 'json', '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', {}, '! file_unreadable'],
  ['xml', 'json', '<a>&x;</a>', {}, '! file_unreadable'],
  ['xml', 'json', '<a><b></a>', {}, '! file_unreadable'],
  ['xml', 'json', '<a>', {}, '! file_unreadable'],
  ['xml', 'json', '<a'.repeat(10), {}, '! file_unreadable'],
  ['xml', 'json', `${'<a>'.repeat(200)}${'</a>'.repeat(200)}`, {}, '! file_unreadable'],
  ['html', 'text', '<h1>Hi</h1><p>a <b>b</b><script>x()</script></p>', {}, '# Hi\n\na **b**\n'],
  ['html', 'text', '<ul><li>one<li>two</ul><a href="javascript:x()">l</a>', {}, '- one\n- two\n\nl\n'],
  [
    'html',
    'text',
    '<a href="https://a.org/?b=(c)">l</a><img alt="i" src="/x.png">',
    {},
    '[l](https://a.org/?b=(c%29)![i](/x.png)\n',
  ],
  [
    'html',
    'text',
    '<table><tr><th>a<th>b<tr><td>1</td><td>2|3</td></tr></table>',
    {},
    '| a | b |\n| --- | --- |\n| 1 | 2\\|3 |\n',
  ],
  ['html', 'text', '<pre>a\n  b</pre><blockquote>q</blockquote>', {}, '```\na\n  b\n```\n\n> q\n'],
  ['pdf', 'text', pdf, {}, 'Hello World'],
  ['pdf', 'text', '%PDF-1.4 nothing', {}, '! file_unreadable'],
  ['pdf', 'text', 'nothing', {}, '! file_unreadable'],
  ['text', 'text', 'hé', {}, 'hé'],
  ['text', 'text', 'x', { encoding: 'nothing' }, '! file_unreadable'],
  ['zip', 'files', 'nothing', {}, '! archive_refused'],
  ['xlsx', 'rows', 'nothing', {}, '! archive_refused'],
  ['xlsx', 'text', 'nothing', {}, '! conversion_unsupported'],
  ['html', 'rows', '<p>', {}, '! conversion_unsupported'],
  ['csv', 'zip', 'a\n1', {}, '! conversion_unsupported'],
])('converts %s to %s: %j', async (from, to, content, options, expected) => {
  expect(await of(from, to, content, options)).toEqual(expected)
})

test('reads text in another encoding only if the encoding is given', async () => {
  expect(await of('text', 'text', Buffer.from([0xe9]))).toBe('! file_unreadable')
  expect(await of('text', 'text', Buffer.from([0xe9]), { encoding: 'latin1' })).toBe('é')
})

describe('workbooks', () => {
  const sheet = (cells: string, more: { styles?: string; strings?: string; settings?: string } = {}): Buffer =>
    writeZip(
      [
        [
          'xl/workbook.xml',
          `<workbook>${more.settings ?? ''}<sheets><sheet name="One" r:id="r1"/><sheet name="Two" r:id="r2"/></sheets></workbook>`,
        ],
        [
          'xl/_rels/workbook.xml.rels',
          '<R><Relationship Id="r1" Target="worksheets/one.xml"/><Relationship Id="r2" Target="/xl/two.xml"/></R>',
        ],
        ['xl/worksheets/one.xml', `<worksheet><sheetData>${cells}</sheetData></worksheet>`],
        [
          'xl/two.xml',
          '<worksheet><sheetData><row><c t="str"><v>z</v></c></row><row><c><v>1</v></c></row></sheetData></worksheet>',
        ],
        ['xl/styles.xml', more.styles ?? '<s/>'],
        ['xl/sharedStrings.xml', more.strings ?? '<sst/>'],
      ].map(([name, text]) => ({ name: name as string, bytes: Buffer.from(text as string) })),
    )

  test('are read with shared texts, gaps, booleans and dates', async () => {
    const file = sheet(
      '<row><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c></row><row><c r="A2" s="1"><v>46086</v></c><c r="C2" t="b"><v>1</v></c></row>',
      {
        strings: '<sst><si><t>day</t></si><si><r><t>o</t></r><r><t>k</t></r></si></sst>',
        styles: '<s><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></s>',
      },
    )
    expect(await of('xlsx', 'rows', file)).toEqual([{ day: '2026-03-05', column_2: null, ok: true }])
  })

  test('that begin in 1904 have their own dates', async () => {
    const file = sheet('<row><c t="str"><v>day</v></c></row><row><c s="0"><v>44624</v></c></row>', {
      settings: '<workbookPr date1904="1"/>',
      styles: '<s><cellXfs><xf numFmtId="14"/></cellXfs></s>',
    })
    expect(await of('xlsx', 'rows', file)).toEqual([{ day: '2026-03-05' }])
  })

  test('are read with prefixed elements, East Asian dates, and without the pronunciation of texts', async () => {
    const file = sheet(
      '<x:row><x:c t="s"><x:v>0</x:v></x:c><x:c t="inlineStr"><x:is><x:t>b</x:t></x:is></x:c></x:row><x:row><x:c s="0"><x:v>46086</x:v></x:c></x:row>',
      {
        strings: '<x:sst><x:si><x:t>東京</x:t><x:rPh sb="0" eb="2"><x:t>トウキョウ</x:t></x:rPh></x:si></x:sst>',
        styles: '<x:s><x:cellXfs><x:xf numFmtId="31"/></x:cellXfs></x:s>',
      },
    )
    expect(await of('xlsx', 'rows', file)).toEqual([{ 東京: '2026-03-05', b: null }])
  })

  test('can be read by the name of a sheet', async () => {
    expect(await of('xlsx', 'rows', sheet(''), { sheet: 'Two' })).toEqual([{ z: 1 }])
    expect(await of('xlsx', 'rows', sheet(''), { sheet: 'Three' })).toBe('! file_unreadable')
  })

  test('are refused if a part contains entities', async () => {
    expect(await of('xlsx', 'rows', sheet('<!DOCTYPE x>'))).toBe('! file_unreadable')
  })
})

describe('archives', () => {
  test.each<[string, Buffer]>([
    ['a path outside the archive', writeZip([{ name: '../x', bytes: Buffer.from('x') }])],
    ['an absolute path', writeZip([{ name: '/etc/x', bytes: Buffer.from('x') }])],
    ['a decompression bomb', writeZip([{ name: 'x', bytes: Buffer.alloc(160 << 20) }])],
    [
      'the same name twice',
      writeZip([
        { name: 'x', bytes: Buffer.from('1') },
        { name: 'x', bytes: Buffer.from('2') },
      ]),
    ],
    ['a link', linked()],
    ['damaged data', damaged()],
  ])('with %s are refused', async (_what, archive) => {
    expect(await of('zip', 'files', archive)).toBe('! archive_refused')
  })
})

function linked(): Buffer {
  const archive = writeZip([{ name: 'x', bytes: Buffer.from('/etc/passwd') }])
  const entry = archive.indexOf(Buffer.from([0x50, 0x4b, 0x01, 0x02]))
  archive.writeUInt32LE((0o120777 << 16) >>> 0, entry + 38)
  return archive
}

function damaged(): Buffer {
  const archive = writeZip([{ name: 'x', bytes: Buffer.from('hello hello hello') }])
  archive[34] = (archive[34] as number) ^ 0xff
  return archive
}

test('frames can arrive in pieces of any size, and an oversized frame is refused', () => {
  const seen: unknown[] = []
  const read = makeFrameReader((frame) => seen.push([frame.header, frame.body.toString()]))
  const bytes = Buffer.concat([encodeFrame({ a: 1 }, Buffer.from('x')), encodeFrame({ b: 2 })])
  for (const byte of bytes) read(Buffer.from([byte]))
  expect(seen).toEqual([
    [{ a: 1 }, 'x'],
    [{ b: 2 }, ''],
  ])
  expect(() => read(Buffer.from('ffffffffffffffff', 'hex'))).toThrow('too large')
})
