import { type FoundDay, findDays } from './dates.ts'
import { type FoundNumber, findNumbers } from './numbers.ts'
import { hide } from './text.ts'
import { type FoundMoment, type FoundTime, findMoments, findTimes } from './times.ts'
import { findEmails, findPhones, findQuoted, findUrls, type Token } from './tokens.ts'

/** Everything of the message that has a shape of its own; each sign is read once, by the most particular reader. */
export type Scan = {
  message: string
  emails: Token[]
  urls: Token[]
  phones: Token[]
  quoted: Token[]
  days: FoundDay[]
  times: FoundTime[]
  moments: FoundMoment[]
  numbers: FoundNumber[]
}

export const scan = (message: string, timeZone: string, now: Date): Scan => {
  let open = message
  const take = <F extends { from: number; to: number }>(found: F[]): F[] => {
    open = hide(open, found)
    return found
  }
  const emails = take(findEmails(open))
  const urls = take(findUrls(open))
  const moments = take(findMoments(open, timeZone, now))
  const isoTimes = take(findTimes(open.replace(/(\d{4}-\d\d-\d\d)T/g, '$1 ')))
  const days = take(findDays(open, { timeZone, now }))
  const phones = take(findPhones(open))
  const numbers = findNumbers(open)
  return { message, emails, urls, phones, quoted: findQuoted(message), days, times: isoTimes, moments, numbers }
}
