import type { Json } from '#model/definition'

// Titles of the choices in the arguments of nodes, by all values of the choice. Other choices show their values: HTTP
// methods, formats, and values that the description of their argument explains.

const roles: Record<string, string> = { owner: 'Owners', member: 'Members', viewer: 'Viewers', guest: 'Guests' }

const titles: Readonly<Record<string, Record<string, string>>> = {
  'user,team,role,agent': { user: 'Person', team: 'Team', role: 'Role', agent: 'Agent' },
  'user,team,role': { user: 'Person', team: 'Team', role: 'Role' },
  'owner,member,viewer,guest': roles,
  'reject,approve,escalate': { reject: 'Reject', approve: 'Approve', escalate: 'Escalate' },
  'fail,default,escalate': { fail: 'Fail', default: 'Use the default answer', escalate: 'Escalate' },
  'take,offer': { take: 'Take it', offer: 'Offer it' },
  'fail,collect': { fail: 'Fail', collect: 'Collect the error' },
  'fail,continue': { fail: 'Fail', continue: 'Continue without data' },
  'replace,append,upsert': {
    replace: 'Replace all records',
    append: 'Append the records',
    upsert: 'Update by key (upsert)',
  },
}

/** Returns the title of a choice of a node's argument, or undefined if its value is its title. */
export const choiceTitle = (choices: readonly Json[], choice: Json): string | undefined =>
  typeof choice === 'string' ? titles[choices.join()]?.[choice] : undefined
