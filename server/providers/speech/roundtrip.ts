// Thirty sentences of the kind that people say to a workflow, and the word error rate of their transcription. For the
// test and the benchmark.

export const sentences = [
  'Please send the invoice to the accounting team before Friday.',
  'The meeting starts at nine in the morning in the large room.',
  'I would like to book a table for four people tonight.',
  'Our new office is on the second floor of the old library.',
  'Can you tell me when the next train to London leaves?',
  'The customer asked for a refund because the parcel was broken.',
  'We need 3 more chairs and a longer table.',
  'She reads a book every evening before going to sleep.',
  'The weather will be warm and sunny for the rest of the week.',
  'Please approve the request if the numbers look right to you.',
  'My order has not arrived, and I am starting to worry.',
  'He works in a small town near the mountains.',
  'The report shows that sales went up by 12 percent in the spring.',
  'Could you call me back after lunch?',
  'The doctor said that I should drink more water.',
  'We moved the deadline to the end of the month.',
  'There is a problem with the printer on the third floor.',
  'I forgot my password and cannot sign in.',
  'The children played in the garden until it was dark.',
  'Thank you for your help with this difficult question.',
  "Every morning the baker opens the shop at six o'clock.",
  'The red car stopped in front of the blue house.',
  'Please write down your name and your phone number.',
  'It takes about 25 minutes to walk to the station.',
  'The company has offices in Paris, Berlin, and Madrid.',
  'I want to change the delivery address of my order.',
  'Nobody knew where the old key had been hidden.',
  'The team finished the project two weeks early.',
  'Would you like coffee or tea with your breakfast?',
  'The music was so loud that we could not hear each other.',
]

const small =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  )
const tens = ' ten twenty thirty forty fifty sixty seventy eighty ninety'.split(' ')

const numberWords = (digits: string): string => {
  const value = Number(digits)
  if (value < 20) return small[value] as string
  if (value < 100) return `${tens[Math.floor(value / 10)]} ${value % 10 ? small[value % 10] : ''}`
  return digits
}

/** Returns the words as they sound: 25 and twenty-five, or 12 % and 12 percent, are the same. */
export const normalizedWords = (text: string): string[] =>
  text
    .toLowerCase()
    .replace(/%|\bper cent\b/g, ' percent')
    .replace(/\b\d+\b/g, numberWords)
    .replace(/[^a-z0-9' ]+/g, ' ')
    .trim()
    .split(/\s+/)

export const wordErrors = (said: string[], heard: string[]): number => {
  let previous = Array.from({ length: heard.length + 1 }, (_, i) => i)
  for (const [i, word] of said.entries()) {
    const row = [i + 1]
    for (const [j, other] of heard.entries()) {
      const substituted = (previous[j] as number) + (word === other ? 0 : 1)
      row.push(Math.min(substituted, (previous[j + 1] as number) + 1, (row[j] as number) + 1))
    }
    previous = row
  }
  return previous[heard.length] as number
}
