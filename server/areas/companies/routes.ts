import { member, owner, signedIn, viewer } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import { Company, CompanyPatch, companyList, ListedCompany, NewCompany } from './schema.ts'
import * as companies from './service.ts'

export const companyRoutes = (): AnyRoute[] =>
  routes(
    'Companies',
    {
      listCompanies: ['GET', '/api/companies', signedIn],
      createCompany: ['POST', '/api/companies', member('workspace')],
      getCompany: ['GET', '/api/companies/:company_id', viewer('company')],
      updateCompany: ['PATCH', '/api/companies/:company_id', owner('company')],
      deleteCompany: ['DELETE', '/api/companies/:company_id', owner('company')],
    },
    {
      listCompanies: {
        summary: "Companies reached through the caller's workspaces, and those the caller owns (operators: all)",
        query: companyList.query,
        answer: page(ListedCompany),
        run: companies.listCompanies,
      },
      createCompany: {
        summary: "Create a company in the caller's own org",
        body: NewCompany,
        answer: Company,
        status: 201,
        location: ({ company_id }) => `/api/companies/${company_id}`,
        examples: { body: { name: 'Acme', metadata: { vat: 'NL001' } } },
        run: companies.createCompany,
      },
      getCompany: { summary: 'One company', answer: Company, run: companies.getCompany },
      updateCompany: {
        summary: 'Change a company',
        body: CompanyPatch,
        answer: Company,
        current: companies.getCompany,
        run: companies.updateCompany,
      },
      deleteCompany: {
        summary: 'Delete a company that has no workspace left',
        status: 204,
        current: companies.getCompany,
        run: companies.deleteCompany,
      },
    },
  )
