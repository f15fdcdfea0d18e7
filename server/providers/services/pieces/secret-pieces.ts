// Pieces that cannot work with a placeholder: database drivers and clients that sign with the secret. They receive the
// secret itself, behind the wall, and people are told so before they store it. `tcp`: the connections of the piece are
// not HTTP.

const HOLDERS: Readonly<Record<string, 'http' | 'tcp'>> = {
  mysql: 'tcp',
  mongodb: 'tcp',
  postgres: 'tcp',
  redis: 'tcp',
  'microsoft-sql-server': 'tcp',
  oracle: 'tcp',
  imap: 'tcp',
  smtp: 'tcp',
  sftp: 'tcp',
  snowflake: 'http',
  'amazon-s3': 'http',
  'amazon-sqs': 'http',
  'amazon-sns': 'http',
  'amazon-ses': 'http',
  ghostcms: 'http',
  'google-cloud-storage': 'http',
}

export const receivesSecret = (piece: string): boolean => Object.hasOwn(HOLDERS, piece)
export const transportOf = (piece: string): 'http' | 'tcp' => HOLDERS[piece] ?? 'http'
