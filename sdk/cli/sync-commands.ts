import type { Client } from '../client.ts'
import { type Command, EXIT, isSet, textOf } from './command.ts'
import { clientFromEnvironment } from './credentials.ts'
import { exitCodeOf, type Line, type Options, type Outcome, pull, push } from './sync.ts'

const marks: Record<Outcome, string> = {
  created: '+',
  changed: '~',
  same: '=',
  deleted: '-',
  only_here: '?',
  only_there: '?',
  conflict: '!',
  failed: '!',
}

const lineOf = ({ file, name, outcome, message }: Line): string =>
  `${marks[outcome]} ${outcome.padEnd(10)} ${file || name}${message ? `\t${message}` : ''}`

const synced = (about: string, work: (client: Client, options: Options) => Promise<Line[]>): Command => ({
  words: ['DIR'],
  about,
  options: {
    'dry-run': { type: 'boolean', about: 'show what would be done, without doing it' },
    force: { type: 'boolean', about: 'overwrite changes of the other side' },
    delete: { type: 'boolean', about: 'delete workflows or files that were deleted on this side' },
  },
  exits: {
    [EXIT.conflict]: 'something was changed on both sides and was not synchronised',
    [EXIT.pending]: 'a dry run found something to do',
  },
  async run([directory], values, out) {
    const client = clientFromEnvironment({ workspace: textOf(values, 'workspace') })
    const dryRun = isSet(values, 'dry-run')
    const lines = await work(client, {
      directory: directory!,
      dryRun,
      force: isSet(values, 'force'),
      delete: isSet(values, 'delete'),
    })
    out.show({ dry_run: dryRun, workflows: lines }, lines.map(lineOf).join('\n'))
    return exitCodeOf(lines, dryRun)
  },
})

export const pullCommand = synced('Write the workflows that you own or edit into a folder, one file each.', pull)
export const pushCommand = synced('Update the workspace from a folder.', push)
