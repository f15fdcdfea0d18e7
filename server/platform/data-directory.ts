import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { refuseSetting } from './config.ts'

/** Other accounts may pass through to the database's own directory inside, but may not list this directory. */
export function makeDataDirectory(directory: string): void {
  const isNew = !existsSync(directory)
  try {
    mkdirSync(directory, { recursive: true })
    if (isNew) chmodSync(directory, 0o711)
  } catch (error) {
    throw refuseSetting('HEDDLE_DATA_DIR', directory, error)
  }
}
