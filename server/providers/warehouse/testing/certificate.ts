import { createSign, generateKeyPairSync } from 'node:crypto'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'

// Creates a certificate, by default for 127.0.0.1 and localhost, that exists for one test. The DER is written by hand,
// so that no test depends on a tool of the machine and no key is in the repository.

const der = (tag: number, ...content: Uint8Array[]): Buffer => {
  const body = Buffer.concat(content)
  const length =
    body.length < 128
      ? [body.length]
      : body.length < 256
        ? [0x81, body.length]
        : [0x82, body.length >> 8, body.length & 255]
  return Buffer.concat([Buffer.from([tag, ...length]), body])
}
const sequence = (...content: Uint8Array[]): Buffer => der(0x30, ...content)
const oid = (...bytes: number[]): Buffer => der(0x06, Buffer.from(bytes))
const time = (date: Date): Buffer =>
  der(0x17, Buffer.from(`${date.toISOString().replaceAll(/[-:T]/g, '').slice(2, 14)}Z`))
const commonName = (name: string): Buffer =>
  sequence(der(0x31, sequence(oid(0x55, 0x04, 0x03), der(0x0c, Buffer.from(name)))))
const extension = (id: number, critical: boolean, value: Buffer): Buffer =>
  sequence(oid(0x55, 0x1d, id), ...(critical ? [der(0x01, Buffer.from([0xff]))] : []), der(0x04, value))

const ecdsaWithSha256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02))
const YEAR = 365 * 24 * 3600 * 1000

const address = (host: string): Buffer =>
  /^[\d.]+$/.test(host) ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host))

export function makeCertificate(hosts = ['localhost', '127.0.0.1']): { key: string; cert: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const now = Date.now()
  const signed = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    commonName('stand-in'),
    sequence(time(new Date(now - YEAR)), time(new Date(now + YEAR))),
    commonName('stand-in'),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      0xa3,
      sequence(
        extension(0x13, true, sequence(der(0x01, Buffer.from([0xff])))),
        extension(0x11, false, sequence(...hosts.map(address))),
      ),
    ),
  )
  const signature = createSign('SHA256').update(signed).sign(privateKey)
  const certificate = sequence(signed, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature))
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64').replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  }
}

/**
 * Trusts a certificate in this process. Returns a function that ends the trust. All test certificates have the same
 * name, so two at the same time would be confused.
 */
export function trust(certificate: string): () => void {
  const usual = getCACertificates('default')
  setDefaultCACertificates([...usual, certificate])
  return () => setDefaultCACertificates(usual)
}
