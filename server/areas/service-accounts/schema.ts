import { z } from 'zod'
import { id, listQuery, name, timestamp } from '#platform/http/schema'

const Role = z.enum(['member', 'viewer'])

export const ServiceAccount = z
  .object({
    user_id: id('usr').describe('Names it wherever a person can be named: members, shares, approvers, the audit log'),
    name: z.string(),
    description: z.string().nullable(),
    role: Role.describe('Its role in the workspace. It is never an owner: people look after people, payments and keys'),
    disabled: z.boolean().describe('Whether its keys are refused'),
    created_by: id('usr').nullable().describe('Who made it; null after that account was deleted'),
    created_at: timestamp(),
    updated_at: timestamp(),
    last_used_at: timestamp().nullable().describe('When one of its keys was last used'),
  })
  .meta({ id: 'ServiceAccount' })
export type ServiceAccount = z.input<typeof ServiceAccount>

const description = () => z.string().trim().max(500).nullish()

export const NewServiceAccount = z.strictObject({
  name: name(),
  description: description(),
  role: Role.default('member'),
})
export const ServiceAccountPatch = z.strictObject({
  name: name().optional(),
  description: description(),
  role: Role.optional(),
  disabled: z.boolean().optional().describe('Whether its keys are refused'),
})

export const serviceAccountQuery = listQuery.extend({
  q: z.string().max(100).optional().describe('Part of the name'),
})
