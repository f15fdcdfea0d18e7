import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'

// The server side of SCRAM-SHA-256 (RFC 5802, 7677).

const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()
const ROUNDS = 4_096

export type Scram = {
  /** The first response. */
  first: string
  /** Returns the last response; undefined if the password is wrong. */
  finish(said: string): string | undefined
}

export function beginScram(said: string, users: Readonly<Record<string, string>>): Scram | undefined {
  const [, bare = '', user = '', nonce = ''] = /^n,,(n=([^,]+),r=(.+))$/.exec(said) ?? []
  const password = users[user.replaceAll('=2C', ',').replaceAll('=3D', '=')]
  if (password === undefined) return undefined
  const salt = randomBytes(16)
  const whole = nonce + randomBytes(18).toString('base64')
  const first = `r=${whole},s=${salt.toString('base64')},i=${ROUNDS}`
  const salted = pbkdf2Sync(password, salt, ROUNDS, 32, 'sha256')
  return {
    first,
    finish(last) {
      const [, without = '', proof = ''] = /^(c=biws,r=[^,]+),p=(.+)$/.exec(last) ?? []
      if (without !== `c=biws,r=${whole}`) return undefined
      const message = `${bare},${first},${without}`
      const storedKey = createHash('sha256').update(hmac(salted, 'Client Key')).digest()
      const signature = hmac(storedKey, message)
      const clientKey = Buffer.from(proof, 'base64').map((byte, index) => byte ^ signature[index]!)
      if (!createHash('sha256').update(clientKey).digest().equals(storedKey)) return undefined
      return `v=${hmac(hmac(salted, 'Server Key'), message).toString('base64')}`
    },
  }
}
