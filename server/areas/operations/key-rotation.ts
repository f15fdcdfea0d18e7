import { z } from 'zod'
import { operator } from '#platform/access/rules'
import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { type AnyRoute, routes } from '#platform/http/route'
import type { KeyService } from '#platform/keys/watch'

const keyId = z.string().describe('Says which key it is, and nothing about it')

const KeyRotation = z
  .object({
    current: keyId,
    rotation: z
      .object({
        from: keyId,
        to: keyId,
        phase: z
          .enum(['announced', 'sealing', 'restarting'])
          .describe('`restarting`: processes with the old key from outside are to be started with the new one'),
        started_at: z.string(),
        sealed: z.number().int().describe('Values that were put under the new key so far'),
      })
      .nullable()
      .describe('Null where none is under way'),
    processes: z
      .array(
        z.object({
          process_id: z.string(),
          keys: z.array(keyId).describe('The keys that the process can open secrets with'),
          current: keyId,
          configured: keyId.describe('The one it would start with again'),
          source: z.string().describe('The source of the key of the process: the settings or a file'),
        }),
      )
      .describe('The processes that have reported lately'),
  })
  .meta({ id: 'KeyRotation' })

const NewKey = z
  .strictObject({ key: z.string().max(100).optional().describe('32 bytes in base64; required with HEDDLE_SECRET_KEY') })
  .meta({ id: 'NewInstallationKey' })

export const keyRotationRoutes = (keys: () => KeyService | undefined): AnyRoute[] => {
  const service = (): KeyService => {
    const found = keys()
    if (!found) throw problem('unavailable', 'This process does not manage keys.')
    return found
  }
  return routes(
    'Operations',
    {
      getKeyRotation: ['GET', '/api/operations/key-rotation', operator],
      rotateKey: ['POST', '/api/operations/key-rotation', operator],
    },
    {
      getKeyRotation: {
        summary: 'The key that encrypts the secrets of the installation, and the rotation in progress',
        answer: KeyRotation,
        transaction: false,
        extension: true,
        run: async () => service().state(),
      },
      rotateKey: {
        summary: 'Encrypt every secret of the installation with a new key, while the service runs',
        description: 'One at a time (409 `conflict`). See docs/operating.md.',
        body: NewKey,
        answer: KeyRotation,
        status: 202,
        transaction: false,
        idempotency: 'none',
        extension: true,
        examples: { body: {} },
        run: async (_ctx: Context, { key }: { key?: string | undefined }) => service().rotate(key),
      },
    },
  )
}
