import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { refuseSetting } from './config.ts'

/** Others may pass through to the database's own directory inside, but not look around. */
export function makeDataDirectory(directory: string): void {
  const isNew = !existsSync(directory)
  try {
    mkdirSync(directory, { recursive: true })
    if (isNew) chmodSync(directory, 0o711)
  } catch (error) {
    throw refuseSetting('HEDDLE_DATA_DIR', directory, error)
  }
}
