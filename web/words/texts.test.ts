// biome-ignore-all lint/suspicious/noTemplateCurlyInString: sources as texts
import { expect, test } from 'vitest'
import { faultsOf } from './catalogue.ts'
import { textsIn } from './find-texts.ts'
import { translated } from './plugin.ts'

// `npm run check` verifies that every language has every text of the console.

const textsOf = (source: string): string[] => textsIn('/features/one.tsx', source).map(({ text }) => text)

test.each([
  ['between tags', 'const a = <p>Save the  {name} now</p>', ['Save the', 'now']],
  ['over several lines', 'const a = (<p>\n  One\n  two.\n</p>)', ['One two.']],
  ['in a property that is shown', 'const a = <Field label="Name" name="Name" />', ['Name']],
  ['in a conditional expression', "const a = <p>{on ? 'on now' : `off ${since} days`}</p>", ['on now', 'off {0} days']],
  [
    'in an object that describes something',
    "const a = { header: 'State', value: 'State', done: 'Saved' }",
    ['State', 'Saved'],
  ],
  ['in a table of names', "const names = { running: 'Running', sort: 'created_at' }", ['Running']],
  [
    'in a variable with the name of a shown text',
    "const label = many ? 'Things' : 'Thing'; const key = 'Thing'",
    ['Things', 'Thing'],
  ],
  ['as the default of a parameter', "function A({ label = 'Search', kind = 'Plain' }) {}", ['Search']],
  ['in a list that is spread', "const facts = [...(on ? [['Models', used]] : [])]", ['Models']],
  ['in parentheses', "const a = <p>{(link ? null : ('the run'))}</p>", ['the run']],
  ['as the default of a destructured property', "const { submit = 'Send', kind = 'Plain' } = props", ['Send']],
  ['after a word with a digit', "const names = { code: 1, oauth: 'OAuth2 for programs' }", ['OAuth2 for programs']],
  ['in a toast', 'toast.done(`${count} were deleted`)', ['{0} were deleted']],
])('a text is found %s', (_where, source, texts) => {
  expect(textsOf(source)).toEqual(texts)
})

test.each([
  ["import a from 'Some thing'"],
  ["const a = event.key === 'Enter'"],
  ['const a = <p className="Big Red">{name}</p>'],
  ['const a = <code>Some code</code>'],
  ["api.listThings({ sort: '-created_at' })"],
  ["const address = 'https://example.com/Some thing'"],
  ['type A = "Some thing"'],
])('%s has no text', (source) => {
  expect(textsOf(source)).toEqual([])
})

test('a text is passed through the catalogue in place, with its values and its spaces', () => {
  const source = 'const a = <p title="Big one">Hello {name}, {n > 1 ? `${n} are here` : null}</p>'
  expect(translated('/a.tsx', source).split(';').slice(1).join(';')).toBe(
    'const a = <p title={__t("Big one")}>{__t("Hello")}{" "}{name}, {n > 1 ? __t("{0} are here", [n]) : null}</p>',
  )
})

test('a missing text, a lost value and an unused text of a language are reported', () => {
  const texts = new Map([
    ['Save', ['a.tsx']],
    ['{0} left', ['b.tsx']],
  ])
  expect(faultsOf({ Save: 'Speichern', '{0} left': '{0} übrig' }, texts)).toEqual([])
  expect(faultsOf({ '{0} left': 'übrig', Old: 'Alt' }, texts)).toEqual([
    'missing: "Save" (a.tsx)',
    'other values: "{0} left"',
    'unused: "Old"',
  ])
})
