import { beforeAll, expect, test } from 'vitest'
import type { Json, JsonObject } from '#model/definition'
import { useSharedService } from '#test/harness/service'
import { makeWorld, type World } from '#test/harness/world'
import { base, type Given, runConverted } from './run.ts'

// The service runs converted workflows and must return the same results as n8n.

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

const set = (name: string, fields: Record<string, string>, more: JsonObject = {}): Given => ({
  name,
  type: base('set'),
  typeVersion: 3.4,
  parameters: {
    assignments: {
      assignments: Object.entries(fields).map(([key, value]) => ({ name: key, value, type: 'string' })),
    },
    ...more,
  },
})
const code = (name: string, jsCode: string, more: JsonObject = {}): Given => ({
  name,
  type: base('code'),
  typeVersion: 2,
  parameters: { jsCode, ...more },
})
const when = (name: string, leftValue: string, type: string, operation: string, rightValue: Json): Given => ({
  name,
  type: base('if'),
  typeVersion: 2,
  parameters: {
    conditions: { combinator: 'and', conditions: [{ leftValue, rightValue, operator: { type, operation } }] },
  },
})

const result = (nodes: Given[], edges: [string, number, string][], input: Json = {}): Promise<Json> =>
  runConverted(world, nodes, edges, input)

test('a cycle repeats until no edge leads back, and later nodes read its last output', async () => {
  const output = await result(
    [
      set('Begin', { n: '0' }),
      code('Count', 'return [{ json: { n: Number($json.n) + 1 } }]'),
      when('Enough', '={{ $json.n }}', 'number', 'gte', 3),
      set('Done', {
        n: '={{ $json.n }}',
        last: "={{ $('Count').item.json.n }}",
        first: "={{ $('Begin').item.json.n }}",
      }),
    ],
    [
      ['Start', 0, 'Begin'],
      ['Begin', 0, 'Count'],
      ['Count', 0, 'Enough'],
      ['Enough', 0, 'Done'],
      ['Enough', 1, 'Count'],
    ],
  )
  expect(output).toEqual([{ n: 3, last: 3, first: '0' }])
})

test('items that leave a loop early are collected, and nodes of the loop can be read after it', async () => {
  const output = await result(
    [
      code('List', 'return [1, 2, 3].map((n) => ({ json: { n } }))'),
      { name: 'Loop', type: base('splitInBatches'), typeVersion: 3, parameters: {} },
      set('Twice', { n: '={{ $json.n * 2 }}' }),
      when('Odd', '={{ $json.n }}', 'number', 'gt', 4),
      code(
        'All',
        "return [{ json: { large: $input.all().map((one) => one.json.n), last: $('Twice').last().json.n } }]",
      ),
    ],
    [
      ['Start', 0, 'List'],
      ['List', 0, 'Loop'],
      ['Loop', 1, 'Twice'],
      ['Twice', 0, 'Odd'],
      ['Odd', 0, 'All'],
      ['Odd', 1, 'Loop'],
      ['Loop', 0, 'All'],
    ],
  )
  expect(output).toEqual([{ large: expect.arrayContaining([2, 4, 6]), last: 6 }])
})

test('expressions that CEL cannot express are computed by code', async () => {
  const output = await result(
    [
      set('Begin', { text: 'one two', at: '2026-01-31T10:00:00Z' }),
      set('It', {
        sorted: "={{ [3, 1, 2].sort().join('-') }}",
        words: "={{ $json.text.split(' ').reduce((all, one) => all + one.toTitleCase(), '') }}",
        later:
          "=on {{ DateTime.fromISO($json.at).plus({ months: 1 }).toFormat('d LLLL yyyy, cccc').toUpperCase().split('').join('') }}",
        zone: "={{ DateTime.fromISO($('Begin').item.json.at).setZone('America/New_York').toFormat('HH:mm') }}",
        hash: "={{ $json.text.hash('md5') }}",
      }),
    ],
    [
      ['Start', 0, 'Begin'],
      ['Begin', 0, 'It'],
    ],
  )
  expect(output).toEqual({
    sorted: '1-2-3',
    words: 'OneTwo',
    later: 'on 28 FEBRUARY 2026, SATURDAY',
    zone: '05:00',
    hash: 'aae2c33a105ad3f28f39402d67a24b20',
  })
})

test('conditions over several items can read the position of an item', async () => {
  const output = await result(
    [
      code('List', "return ['b', 'a', 'c'].map((n) => ({ json: { n } }))"),
      when('Later', '={{ $itemIndex + [0].sort().length }}', 'number', 'gt', 1),
      code('All', 'return [{ json: { all: $input.all().map((one) => one.json.n) } }]'),
    ],
    [
      ['Start', 0, 'List'],
      ['List', 0, 'Later'],
      ['Later', 0, 'All'],
    ],
  )
  expect(output).toEqual([{ all: ['a', 'c'] }])
})

test('code uses files, hashes, times and values stored between executions', async () => {
  const output = await result(
    [
      code(
        'Write',
        "return [{ json: { n: 1 }, binary: { data: { data: Buffer.from('héllo').toString('base64'), fileName: 'a.txt', mimeType: 'text/plain' } } }]",
      ),
      code(
        'Read',
        `const crypto = require('crypto')
const kept = $getWorkflowStaticData('global')
kept.runs = (kept.runs ?? 0) + 1
const bytes = await this.helpers.getBinaryDataBuffer(0, 'data')
return [{ json: {
  text: bytes.toString('utf8'), name: $input.first().binary.data.fileName, runs: kept.runs,
  sha256: crypto.createHash('sha256').update('abc').digest('hex'), md5: crypto.createHash('md5').update('abc').digest('hex'),
  sha1: crypto.createHash('sha1').update('abc').digest('hex'),
  hmac: crypto.createHmac('sha256', 'key').update('abc').digest('base64'),
  day: DateTime.fromFormat('05/03/2026', 'dd/MM/yyyy').startOf('week').toISODate(), money: (1234.5).toLocaleString('en-US', { style: 'currency', currency: 'USD' }),
} }]`,
      ),
    ],
    [
      ['Start', 0, 'Write'],
      ['Write', 0, 'Read'],
    ],
  )
  expect(output).toEqual([
    {
      text: 'héllo',
      name: 'a.txt',
      runs: 1,
      sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
      md5: '900150983cd24fb0d6963f7d28e17f72',
      sha1: 'a9993e364706816aba3e25717850c26c9cd0d89d',
      hmac: 'nBluMtwBdfhvSxy4konWYZ3mvuaZ5MN45oMJ7Zehpqs=',
      day: '2026-03-02',
      money: '$1,234.50',
    },
  ])
})

test('HTML is parsed with selectors and written from a template', async () => {
  const html =
    '<ul class="l"><li><a href="/x">One &amp; only</a><li data-k="2"><a href="/y"> Two </a></ul><p>Last<br>line</p>'
  const output = await result(
    [
      set('Page', { data: html }),
      {
        name: 'Read',
        type: base('html'),
        typeVersion: 1.2,
        parameters: {
          operation: 'extractHtmlContent',
          extractionValues: {
            values: [
              { key: 'texts', cssSelector: 'ul.l > li a', returnArray: true },
              { key: 'link', cssSelector: 'li:nth-child(2) a', returnValue: 'attribute', attribute: 'href' },
              { key: 'known', cssSelector: '[data-k="2"], p', returnValue: 'html' },
            ],
          },
        },
      },
      { name: 'Write', type: base('html'), parameters: { html: '<b>{{ $json.link }}</b>' } },
      set('Both', {
        page: '={{ $json.html }}',
        texts: "={{ $('Read').item.json.texts.join('|') }}",
        known: "={{ $('Read').item.json.known }}",
      }),
    ],
    [
      ['Start', 0, 'Page'],
      ['Page', 0, 'Read'],
      ['Read', 0, 'Write'],
      ['Write', 0, 'Both'],
    ],
  )
  expect(output).toEqual({ page: '<b>/y</b>', texts: 'One & only|Two', known: '<a href="/y"> Two </a>' })
})

test('fields with computed names are set', async () => {
  const output = await result([set('It', { '={{ "a" + 1 }}': 'x', b: 'y' })], [['Start', 0, 'It']])
  expect(output).toEqual({ a1: 'x', b: 'y' })
})

test('code formats numbers and dates for the common languages and time zones, and checks whether a node has run', async () => {
  const output = await result(
    [
      set('First', { a: '1' }),
      code(
        'It',
        `const at = new Date('2026-07-05T22:30:00Z')
const name = 'First'
const uuid = crypto.randomUUID()
return [{ json: {
  numbers: [(1234567.5).toLocaleString('de-DE'), (1234.5).toLocaleString('pt-BR', { style: 'currency', currency: 'BRL' }), (0.25).toLocaleString('en-US', { style: 'percent' })],
  dates: [at.toLocaleDateString('en-GB'), at.toLocaleDateString('de-DE', { timeZone: 'Europe/Berlin' }), at.toLocaleTimeString('en-US', { timeZone: 'Asia/Kolkata' })],
  zone: DateTime.fromJSDate(at).setZone('America/New_York').minus({ months: 6 }).toISO(),
  read: $(name).first().json.a, later: $('Later').isExecuted, uuid: uuid.length,
} }]`,
      ),
      set('Later', { all: '={{ JSON.stringify($json) }}', legacy: '={{ $item("0").$node["First"].json["a"] }}' }),
    ],
    [
      ['Start', 0, 'First'],
      ['First', 0, 'It'],
      ['It', 0, 'Later'],
    ],
  )
  const [{ all, legacy }] = output as [{ all: string; legacy: string }]
  expect([JSON.parse(all), legacy]).toEqual([
    {
      numbers: ['1.234.567,5', 'R$\u00a01.234,50', '25%'],
      dates: ['05/07/2026', '6.7.2026', '4:00:00 AM'],
      zone: '2026-01-05T18:30:00.000-05:00',
      read: '1',
      later: false,
      uuid: 36,
    },
    '1',
  ])
})

test.each<JsonObject>([{}, { responseType: 'freeText' }, { responseType: 'customForm', formFields: { values: [] } }])(
  'a question that nobody answers in time continues without an answer: %j',
  async (parameters) => {
    const output = await result(
      [
        {
          name: 'Ask',
          type: base('slack'),
          parameters: {
            operation: 'sendAndWait',
            message: 'Go?',
            options: { limitWaitTime: { values: { resumeAmount: 0.001, resumeUnit: 'minutes' } } },
            ...parameters,
          },
        },
        when('Approved', '={{ $json.data.approved }}', 'boolean', 'true', ''),
        set('Yes', { said: 'yes' }),
        set('No', { said: 'no' }),
      ],
      [
        ['Start', 0, 'Ask'],
        ['Ask', 0, 'Approved'],
        ['Approved', 0, 'Yes'],
        ['Approved', 1, 'No'],
      ],
    )
    expect(output).toEqual({ yes: null, no: { said: 'no' } })
  },
)
