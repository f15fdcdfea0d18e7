import { type Logger as PinoLogger, pino } from 'pino'

export type Logger = PinoLogger

const secretKeys = [
  'authorization',
  'cookie',
  'password',
  'token',
  'key',
  'secret',
  'secrets',
  'credentials',
  'client_secret',
  'ticket',
  'claim_token',
]

/**
 * Writes structured lines to standard error, with the number of the process if there are several. Standard output is
 * for what a person must read (ready line, demo credentials).
 */
export function makeLogger(level: string, process?: number): Logger {
  return pino(
    {
      level,
      base: process === undefined ? undefined : { process },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: secretKeys.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[redacted]' },
    },
    pino.destination({ fd: 2, sync: true }),
  )
}
