import { because, type Phrases } from './phrases.ts'

/** Adds an article if the label has none: "your name" stays, "amount" becomes "the amount". */
const withArticle = (label: string): string => {
  const written = /^[A-Z][a-z]/.test(label) ? label[0]!.toLowerCase() + label.slice(1) : label
  return /^(your|the|a|an|my)\b/i.test(written) ? written : `the ${written}`
}

export const en: Phrases = {
  locale: 'en-GB',

  aColleague: 'A colleague',
  joined: (name) => `${name} has joined the conversation.`,
  handedBack: 'The assistant answers again.',
  told: 'I have told my colleagues that you would like to talk to a person.',
  toldBefore: 'My colleagues know that you wait for them.',
  theyAnswer: 'They will answer here.',
  cannotAnswer: 'Sorry, I cannot answer at the moment.',
  tryLater: 'Please try again later.',
  toldAlone: 'I have told my colleagues.',
  nobodyThere: 'Nobody is there at the moment.',
  from: (time, zone) => `They answer from ${time} (${zone}).`,

  greeting: 'Hello! How can I help you?',
  nothingToOffer: 'There is nothing I can start for you at the moment.',
  canHelpWith: 'I can help with:',
  whichOne: 'Which of these do you mean?',
  replyWith: 'Reply with a number or a name.',
  shallIStart: (title) => `Shall I start "${title}"?`,
  notStarted: 'All right, I have not started it. Say "start" when you want me to.',
  notNow: 'That cannot be started at the moment. Please try again later.',
  gone: 'That is no longer available, so I have stopped there.',
  cancelled: 'All right, I have stopped there.',
  complete: 'This has already been started.',

  ask: (label) => `What is ${withArticle(label)}?`,
  asks: /\?\s*$|^(?:what|which|who|whose|when|where|why|how|is|are|do|does|did|can|may|will|should|shall)\s/i,
  needOne: (title, question) => `For "${title}" I need one more thing. ${question}`,
  needSeveral: (title, labels, question) => `For "${title}" I need: ${labels}. ${question}`,
  or: 'or',
  choose: (choices) => `Choose ${choices}.`,
  yesOrNo: 'Yes or no?',
  aDate: 'A date, please, such as 31 January.',
  aDateAndTime: 'A date and a time, please.',
  anEmailAddress: 'An e-mail address, please.',
  aNumber: 'A number, please.',
  aFile: 'Please send a file.',
  files: 'Please send one or more files.',
  received: (names) => `I have received ${names}.`,
  doesNotFit: (issues) => `That does not fit yet: ${issues}.`,
  theInput: 'the input',
  notUnderstood: 'Sorry, I did not understand that.',
  formChanged: 'What is needed has changed meanwhile. Please look at the form again.',

  onlyText: 'I can only read text. Please write it to me.',
  tooLong: (characters) =>
    `Your message was very long: I have read its first ${characters} characters. Please send the rest as another one.`,
  notRead: (names) => `I could not read ${names}.`,
  couldNotRead: 'Sorry, something went wrong and I could not read your last message. Please try again later.',

  setAside: 'All right, the question stays open. Say "answer" to come back to it.',
  answered: 'Thank you. I have passed your answer on.',
  answeredElsewhere: 'Thank you, but that question has already been answered or has closed.',
  waitsForColleague: 'Waiting for a colleague to answer a question.',
  waitsForApproval: (title) => `Waiting for approval: ${title}`,

  started: (title) => `I have started "${title}".`,
  stillRunning: (title) => `"${title}" is still running. I will tell you when it is done.`,
  done: 'Done.',
  tooLarge: (title) => `"${title}" is done. The result is too large to show here.`,
  wasCancelled: (title) => `"${title}" was cancelled.`,
  timedOut: (title) => `"${title}" took too long and was stopped.`,
  failed: (title, reason) => because(`"${title}" could not be completed`, reason),

  formCancelled: 'Cancelled.',
  submitted: 'Submitted.',
}
