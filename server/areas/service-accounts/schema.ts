import { z } from 'zod'
import { anyOf, defineList, flag } from '#platform/http/list'
import { id, name, timestamp } from '#platform/http/schema'

const roles = ['member', 'viewer'] as const
const Role = z.enum(roles)

export const ServiceAccount = z
  .object({
    user_id: id('usr').describe('Its id wherever a person can be named: members, shares, approvers, the audit log'),
    name: z.string(),
    description: z.string().nullable(),
    role: Role.describe(
      'Its role in the workspace. It is never an owner, because only people manage people, payments and keys',
    ),
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

export const serviceAccountList = defineList({
  id: 'user_id',
  search: ['name', 'description'],
  sort: { created_at: 'id', updated_at: 'time', name: 'text', last_used_at: 'time' },
  order: '-created_at',
  filters: { role: anyOf(roles), disabled: flag('Only those that are disabled, or only those that are not') },
})
