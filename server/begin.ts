import { helpText, readArguments } from '#platform/arguments'
import { readConfig, SettingRefused, settings } from '#platform/config'
import { StartRefused } from '#platform/db/refused'
import { incompleteSettings, unknownSettings } from '#platform/setting-hints'

// Refuses a wrong setting before the program is loaded.
try {
  const argv = process.argv.slice(2)
  const { prints } = readArguments(argv)
  if (prints === 'help') process.stdout.write(helpText(settings))
  else if (prints === 'version') {
    const { API_VERSION } = await import('#platform/http/openapi/document')
    console.log(`heddle ${API_VERSION}`)
  } else await start(argv)
} catch (error) {
  if (!(error instanceof SettingRefused || error instanceof StartRefused)) throw error
  console.error(`heddle cannot start: ${error.message}`)
  process.exit(1)
}

async function start(argv: string[]): Promise<void> {
  const config = readConfig(process.env, argv)
  if (!process.env.HEDDLE_MEMBER)
    for (const line of [...unknownSettings(process.env), ...incompleteSettings(config)]) console.error(line)
  const isSupervisor = config.HEDDLE_PROCESSES > 1 && config.resetPassword === null && !process.env.HEDDLE_MEMBER
  if (isSupervisor) await (await import('./supervisor.ts')).supervise(config)
  else await import('./program.ts')
}
