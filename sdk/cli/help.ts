import { type Command, commonOptions, exits, type Option } from './command.ts'

const flagOf = (name: string, { short, value }: Option): string =>
  `${short ? `-${short}, ` : ''}--${name}${value ? ` ${value}` : ''}`

const usageOf = (name: string, { words, options }: Command): string =>
  ['heddle', name, ...words, ...Object.entries(options).map(([option, of]) => `[${flagOf(option, of)}]`)].join(' ')

const listed = (rows: [string, string][]): string => {
  const width = Math.max(...rows.map(([left]) => left.length)) + 2
  return rows.map(([left, right]) => `  ${left.padEnd(width)}${right}`).join('\n')
}

export function helpOf(name: string, command: Command): string {
  const options = Object.entries({ ...command.options, ...commonOptions })
  return `${usageOf(name, command)}

${command.about}

Options
${listed(options.map(([option, of]) => [flagOf(option, of), of.about]))}

Exit codes
${listed(Object.entries({ ...exits, ...command.exits }).map(([code, about]) => [code, about]))}
`
}

const firstSentence = (text: string): string => text.split(/\.(?:\s|$)/)[0]!

export const overview = (commands: Record<string, Command>): string => `heddle: workflows from the terminal

${listed(Object.entries(commands).map(([name, { words, about }]) => [['heddle', name, ...words].join(' '), firstSentence(about)]))}

heddle COMMAND --help shows the options and exit codes of a command. Every command accepts --json. If the key is valid in several workspaces,
give --workspace ws_…; login stores it. HEDDLE_BASE, HEDDLE_KEY and HEDDLE_WORKSPACE take precedence over what login stored. WORKFLOW is an id
or a name.
`
