import { expect, test } from 'vitest'
import { withTextFragment } from './text-fragment.ts'

test.each([
  ['https://a.example/p', undefined, 'https://a.example/p'],
  ['https://a.example/p', 'one', 'https://a.example/p'],
  ['https://a.example/p', 'We open at nine.', 'https://a.example/p#:~:text=We%20open%20at'],
  ['https://a.example/p#part', 'Re-open at, nine', 'https://a.example/p#part:~:text=Re%2Dopen%20at%2C'],
  ['https://a.example/p', 'Heading here now\nand more', 'https://a.example/p#:~:text=Heading%20here'],
  ['https://a.example/p', 'a b c d e f g h i j', 'https://a.example/p#:~:text=a%20b%20c%20d%20e%20f%20g%20h'],
  ['https://a.example/p#:~:text=x', 'We open', 'https://a.example/p#:~:text=x'],
])('%s with the quote %j becomes %s', (url, quote, place) => {
  expect(withTextFragment(url, quote)).toBe(place)
})
