// The texts of the program itself in a conversation. All of them are plain text: a client must not interpret markup in
// them.

export type Phrases = {
  locale: string

  // People who answer
  aColleague: string
  joined(name: string): string
  handedBack: string
  told: string
  toldBefore: string
  theyAnswer: string
  cannotAnswer: string
  tryLater: string
  toldAlone: string
  nobodyThere: string
  from(time: string, zone: string): string

  // What can be started
  greeting: string
  nothingToOffer: string
  canHelpWith: string
  whichOne: string
  replyWith: string
  shallIStart(title: string): string
  /** Names a word that starts the workflow. */
  notStarted: string
  notNow: string
  gone: string
  cancelled: string
  complete: string

  // What is needed
  /** A label of the author, such as "order number". */
  ask(label: string): string
  /** Matches a label that is already a question. */
  asks: RegExp
  needOne(title: string, question: string): string
  needSeveral(title: string, labels: string, question: string): string
  or: string
  choose(choices: string): string
  yesOrNo: string
  aDate: string
  aDateAndTime: string
  anEmailAddress: string
  aNumber: string
  aFile: string
  files: string
  received(names: string): string
  doesNotFit(issues: string): string
  theInput: string
  notUnderstood: string
  formChanged: string

  // Messages of a channel
  onlyText: string
  tooLong(characters: string): string
  notRead(names: string): string
  couldNotRead: string

  // Questions of a workflow
  /** Names a word that returns to the question. */
  setAside: string
  answered: string
  answeredElsewhere: string
  waitsForColleague: string
  waitsForApproval(title: string): string

  // Progress and results
  started(title: string): string
  stillRunning(title: string): string
  done: string
  tooLarge(title: string): string
  wasCancelled(title: string): string
  timedOut(title: string): string
  /** Includes the reason if it is known. */
  failed(title: string, reason: string | null): string

  // Stored as the message of the person
  formCancelled: string
  submitted: string
}

/** Appends the reason if it is known, and otherwise a full stop. */
export const because = (said: string, reason: string | null, colon = ': '): string =>
  reason === null ? `${said}.` : `${said}${colon}${reason}`
