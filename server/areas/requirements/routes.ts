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
          'The configured language model reads the values, or rules if there is no model or it does not answer; `extracted_by` shows which. Values that the message does not contain are listed in `missing` and never guessed.',
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
