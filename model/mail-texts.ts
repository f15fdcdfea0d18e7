// What mails about gates, questions and notices say around what tenants wrote. {0} … are the values.

export const mailTexts = [
  'Answer',
  'Approve',
  'Reject',
  'Read all of it and vote',
  'The links are for you alone and work until {0}. They open a page; nothing happens before you confirm it there.',
  'Content: sha256 {0}',
  'Workspace: {0}',
  'In the console: {0}',
  'Which mails you get: {0}',
  'Open in the console',
  'Which mails you get',
  '{0} is your code',
  'Enter this code on the page that asks for it: {0}',
  'It is about “{0}” and works for ten minutes. If you did not ask for it, somebody else has your link: do not pass the code on.',
] as const

export type MailText = (typeof mailTexts)[number]
