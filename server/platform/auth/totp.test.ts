import { describe, expect, test } from 'vitest'
import { matchTotp, otpauthUrl, stepAt, toBase32, totpCode } from './totp.ts'

const secret = Buffer.from('12345678901234567890')

describe('one-time passwords', () => {
  // Appendix B of RFC 6238, SHA-1.
  test.each([
    [59, '94287082'],
    [1111111109, '07081804'],
    [1111111111, '14050471'],
    [1234567890, '89005924'],
    [2000000000, '69279037'],
    [20000000000, '65353130'],
  ])('at %i s the code is %s', (seconds, code) => {
    expect(totpCode(secret, stepAt(seconds * 1000), 8)).toBe(code)
  })

  test.each([
    [-2, false],
    [-1, true],
    [0, true],
    [1, true],
    [2, false],
  ])('the code of %i steps from now is accepted: %s', (offset, taken) => {
    const now = 1_700_000_000_000
    const code = totpCode(secret, stepAt(now) + offset)
    expect(matchTotp(secret, code, now, 0)).toBe(taken ? stepAt(now) + offset : undefined)
  })

  test('a code is accepted only once, and older codes are refused after it', () => {
    const now = 1_700_000_000_000
    const step = stepAt(now)
    expect(matchTotp(secret, totpCode(secret, step), now, step)).toBeUndefined()
    expect(matchTotp(secret, totpCode(secret, step - 1), now, step)).toBeUndefined()
    expect(matchTotp(secret, totpCode(secret, step + 1), now, step)).toBe(step + 1)
  })

  test.each(['', '12345', '1234567', 'abcdef', '１２３４５６'])('%j is not accepted as a code', (code) => {
    expect(matchTotp(secret, code, 59_000, 0)).toBeUndefined()
  })

  // RFC 4648, without padding.
  test.each([
    ['', ''],
    ['f', 'MY'],
    ['fo', 'MZXQ'],
    ['foobar', 'MZXW6YTBOI'],
  ])('%j in base 32 is %s', (text, encoded) => {
    expect(toBase32(Buffer.from(text))).toBe(encoded)
  })

  test('the otpauth address escapes the name of the account', () => {
    expect(otpauthUrl(secret, 'a:b@example.com', 'Heddle')).toBe(
      'otpauth://totp/Heddle:a%3Ab%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Heddle&algorithm=SHA1&digits=6&period=30',
    )
  })
})
