import { type FoundDay, findDays } from './dates.ts'
import type { Place } from './index.ts'
import { type FoundNumber, findNumbers } from './numbers.ts'
import { hide, type TextWords, textWordsIn } from './text.ts'
import { type FoundMoment, type FoundTime, findMoments, findTimes } from './times.ts'
import { findEmails, findPhones, findQuoted, findUrls, type Token } from './tokens.ts'

/** All parts of the message with a recognisable format. Each character is read once, by the most specific reader. */
export type Scan = {
  message: string
  spoken: TextWords
  emails: Token[]
  urls: Token[]
  phones: Token[]
  quoted: Token[]
  days: FoundDay[]
  times: FoundTime[]
  moments: FoundMoment[]
  numbers: FoundNumber[]
}

export const scan = (message: string, place: Place): Scan => {
  let open = message
  const take = <F extends { from: number; to: number }>(found: F[]): F[] => {
    open = hide(open, found)
    return found
  }
  const emails = take(findEmails(open))
  const urls = take(findUrls(open))
  const moments = take(findMoments(open, place.timeZone, place.now))
  const isoTimes = take(findTimes(open.replace(/(\d{4}-\d\d-\d\d)T/g, '$1 ')))
  const days = take(findDays(open, place))
  const phones = take(findPhones(open))
  const numbers = findNumbers(open)
  return {
    message,
    spoken: textWordsIn(message),
    emails,
    urls,
    phones,
    quoted: findQuoted(message),
    days,
    times: isoTimes,
    moments,
    numbers,
  }
}
