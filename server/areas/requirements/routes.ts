import { viewer } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { Extracted, ExtractRequirements } from './schema.ts'
import type { Requirements } from './service.ts'

export const requirementRoutes = (requirements: Requirements): AnyRoute[] =>
  routes(
    'Workflows',
    { extractRequirements: ['POST', '/api/workflows/extract-requirements', viewer('workspace'), 'run'] },
    {
      extractRequirements: {
        summary: 'Values for several requirements out of a message',
        description:
          'By the configured language model, or by rules where there is none or it does not answer; `extracted_by` says which. What the message does not say is in `missing`, never guessed.',
        body: ExtractRequirements,
        answer: Extracted,
        transaction: false,
        examples: {
          body: {
            message: 'Two rooms for Ada Lovelace from 3 March, ada@example.com',
            requirements: [
              'name',
              { name: 'email', schema: { type: 'string', format: 'email' } },
              { name: 'rooms', schema: { type: 'integer', minimum: 1 } },
            ],
          },
        },
        run: requirements.extractRequirements,
      },
    },
  )
