// Creates server/platform/auth/common-passwords.bin from a list of common passwords, one per line, on standard input:
//   node scripts/common-passwords.mjs < list.txt
// The list in the repository contains the entries of at least 8 characters from the password list of zxcvbn and
// zxcvbn-ts (MIT, Copyright Dan Wheeler, Dropbox Inc. and the zxcvbn-ts authors). The output is a sorted list of
// SHA-256 prefixes, 6 bytes each.

import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const MIN_LENGTH = 8
const PREFIX_BYTES = 6

const entries = new Set(
  readFileSync(0, 'utf8')
    .split('\n')
    .map((line) => line.trim().normalize('NFKC').toLowerCase())
    .filter((line) => line.length >= MIN_LENGTH),
)
const prefixes = [...entries].map((entry) => createHash('sha256').update(entry).digest().subarray(0, PREFIX_BYTES))
prefixes.sort(Buffer.compare)
writeFileSync(
  join(import.meta.dirname, '..', 'server', 'platform', 'auth', 'common-passwords.bin'),
  Buffer.concat(prefixes),
)
console.log(`${entries.size} passwords`)
