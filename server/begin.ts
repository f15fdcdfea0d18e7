import { readConfig, SettingRefused, unknownSettings } from '#platform/config'
import { StartRefused } from '#platform/db/refused'

// Refuses a wrong setting before the program is loaded.
try {
  const config = readConfig(process.env, process.argv.slice(2))
  if (!process.env.HEDDLE_MEMBER) for (const line of unknownSettings(process.env)) console.error(line)
  const isSupervisor = config.HEDDLE_PROCESSES > 1 && config.resetPassword === null && !process.env.HEDDLE_MEMBER
  if (isSupervisor) await (await import('./supervisor.ts')).supervise(config)
  else await import('./program.ts')
} catch (error) {
  if (!(error instanceof SettingRefused || error instanceof StartRefused)) throw error
  console.error(`heddle cannot start: ${error.message}`)
  process.exit(1)
}
