import { readFileSync, writeFileSync } from 'node:fs'
import { verifyReceipt } from '../receipts.ts'
import { type Command, EXIT, textOf } from './command.ts'
import { clientFromEnvironment } from './credentials.ts'

export const receipt: Command = {
  words: ['EXECUTION'],
  about: 'Print the signed receipt of an execution that has ended.',
  options: { to: { type: 'string', value: 'FILE', about: 'write it to this file' } },
  async run([execution], values, out) {
    const client = clientFromEnvironment({ workspace: textOf(values, 'workspace') })
    const text = `${JSON.stringify(await client.getExecutionReceipt({ execution_id: execution! }), null, 2)}\n`
    const to = textOf(values, 'to')
    if (to === undefined) process.stdout.write(text)
    else {
      writeFileSync(to, text)
      out.show({ file: to }, `Written to ${to}`)
    }
  },
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new Error(`${file} cannot be read as JSON: ${(error as Error).message}`)
  }
}

export const verify: Command = {
  words: ['FILE'],
  about:
    'Check a receipt without the service. If something was changed, the changes are listed and the exit code is 1.',
  options: {
    key: { type: 'string', value: 'KEY', about: 'the public key you trust, from GET /api/receipt-key' },
  },
  async run([file], values, out) {
    const document = readJson(file!) as { statement?: { issuer?: string; key_id?: string } } | null
    const key = textOf(values, 'key')
    const problems = verifyReceipt(document, key)
    const trusted = key !== undefined
    const answer = { valid: problems.length === 0, trusted: problems.length === 0 && trusted, problems }
    if (problems.length > 0) {
      out.show(answer, problems.map(({ path, message }) => `${path || 'The file'} ${message}`).join('\n'))
      return EXIT.failed
    }
    const by = trusted
      ? 'with the key you trust'
      : `with the key ${document?.statement?.key_id}; pass the key you trust with --key`
    out.show(answer, `Nothing was changed. Signed by ${document?.statement?.issuer} ${by}.`)
    return EXIT.done
  },
}
