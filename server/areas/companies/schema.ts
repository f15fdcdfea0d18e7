import { z } from 'zod'
import { defineList } from '#platform/http/list'
import { id, jsonObject, name, timestamp } from '#platform/http/schema'

export const Company = z
  .object({
    company_id: id('co'),
    name: z.string(),
    owner_id: id('usr'),
    metadata: jsonObject(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'Company' })
export type Company = z.input<typeof Company>

export const ListedCompany = Company.extend({
  owner_name: z.string().optional().describe('Shown to operators, who may not be in the company'),
}).meta({ id: 'ListedCompany' })
export type ListedCompany = z.input<typeof ListedCompany>

export const NewCompany = z.strictObject({ name: name(), metadata: jsonObject().optional() })
export const CompanyPatch = z.strictObject({ name: name().optional(), metadata: jsonObject().nullable().optional() })

export const companyList = defineList({
  id: 'company_id',
  search: ['name'],
  sort: { created_at: 'id', updated_at: 'time', name: 'text' },
  order: '-created_at',
})
