import { z } from 'zod'
import { jsonObject, name, reference } from '#platform/http/schema'
import { PACKAGE_VERSION } from '#providers/services/npm'
import { PIECE_NAME, PIECE_VERSION } from '#providers/services/pieces/source'
import { ENVIRONMENT_NAME, isReservedName, PROGRAM_NAME } from '#providers/services/programs/index'
import { ActionSummary, Auth, Package, TriggerSummary } from './schema.ts'

const address = () =>
  z
    .string()
    .max(2_000)
    .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), 'must begin with https://')

const baseUrl = () =>
  address()
    .refine((text) => !/[?#]/.test(text), 'must not have a query or a fragment')
    .transform((text) => text.replace(/\/+$/, ''))

export const ImportRequest = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-z][a-z0-9_]{0,39}$/, 'holds lower case letters, digits and "_", and begins with a letter')
      .optional()
      .describe('The service is called `custom.` and this name; a piece is called `piece.` and its own'),
    title: name(100).optional().describe('The displayed title; default: the title of the document'),
    document: z
      .union([z.string().min(1), jsonObject()])
      .optional()
      .describe('An OpenAPI 3.0, 3.1 or Swagger 2.0 document: JSON, or a text in JSON or YAML'),
    url: address().optional().describe('The address of the document, instead of `document`'),
    mcp_url: address()
      .optional()
      .describe('An MCP server (streamable HTTP), instead of a document: its tools become actions'),
    piece: z
      .string()
      .regex(PIECE_NAME, 'is the name of a piece, such as slack or google-sheets')
      .optional()
      .describe(
        'A piece of the Activepieces project, instead of a document: the part of its package name after `piece-`',
      ),
    piece_version: z
      .string()
      .regex(PIECE_VERSION, 'is a version such as 1.2.3')
      .optional()
      .describe('A release of the piece; default: the newest'),
    mcp_package: z
      .string()
      .regex(PROGRAM_NAME, 'is the name of a package, such as @example/mcp-server')
      .optional()
      .describe('A package whose program is an MCP server over standard input and output, instead of a document'),
    mcp_version: z
      .string()
      .regex(PACKAGE_VERSION, 'is a version such as 1.2.3')
      .optional()
      .describe('A release of the package; default: the newest'),
    mcp_args: z
      .array(
        z
          .string()
          .max(1_000)
          .regex(/^[^\0]*$/, 'must not contain NUL characters'),
      )
      .max(30)
      .optional()
      .describe('The arguments of the program; `{{token}}` is replaced by the secret `token` of the credential'),
    mcp_environment: z
      .record(
        z
          .string()
          .regex(ENVIRONMENT_NAME, 'is not a valid name of a variable')
          .refine((name) => !isReservedName(name), 'is reserved for the isolation of the program'),
        z
          .string()
          .max(4_000)
          .regex(/^[^\0]*$/, 'must not contain NUL characters'),
      )
      .refine((values) => Object.keys(values).length <= 50, 'has at most 50 variables')
      .optional()
      .describe('The environment of the program; `{{token}}` is replaced by the secret `token` of the credential'),
    credential_id: reference('cred')
      .optional()
      .describe('The credential with which the tools of `mcp_url` or `mcp_package` are listed'),
    base_url: baseUrl().optional().describe('The address of the vendor, instead of that in the document'),
    replace: z.boolean().optional().describe('Replaces the service that has this name'),
  })
  .refine(
    ({ document, url, mcp_url, mcp_package, piece }) =>
      [document, url, mcp_url, mcp_package, piece].filter((one) => one !== undefined).length === 1,
    { message: 'exactly one of document, url, mcp_url, mcp_package and piece is required', path: ['document'] },
  )
  .refine(
    ({ mcp_url, mcp_package, credential_id, base_url }) =>
      mcp_url === undefined && mcp_package === undefined ? !credential_id : !base_url,
    { message: 'credential_id is for mcp_url and mcp_package, and base_url for documents', path: ['mcp_url'] },
  )
  .refine(
    ({ mcp_package, mcp_version, mcp_args, mcp_environment }) =>
      mcp_package !== undefined || (!mcp_version && !mcp_args && !mcp_environment),
    { message: 'mcp_version, mcp_args and mcp_environment are for mcp_package', path: ['mcp_package'] },
  )
  .refine(({ name, piece }) => (name === undefined) === (piece !== undefined), {
    message: 'is required, except for a piece, which has a name of its own',
    path: ['name'],
  })
  .refine(({ piece, piece_version, base_url }) => (piece !== undefined ? !base_url : !piece_version), {
    message: 'piece_version is for pieces, and base_url for documents',
    path: ['piece'],
  })
  .meta({ id: 'ServiceImportRequest' })
export type ImportRequest = z.output<typeof ImportRequest>

const names = (text: string) => z.array(z.string()).describe(text)

export const ServiceImport = z
  .object({
    service: z.string().describe('As `service.call` names it'),
    title: z.string(),
    description: z.string(),
    version: z.string().describe('Of the document'),
    base_url: z.string().nullable().describe('Null: the document names no server, and `base_url` must be given'),
    auth: z.array(Auth).describe('The kinds of authentication in the document; empty if it names none'),
    credential_required: z.boolean().describe('Whether all its operations ask for a credential'),
    actions: z
      .array(ActionSummary.extend({ method: z.string(), path: z.string().describe('As the document has it') }))
      .describe('What can be called'),
    triggers: z.array(TriggerSummary).describe('Of a piece: what can start a workflow'),
    package: Package.nullable().describe('Of a piece or an MCP package: the code that runs'),
    notes: z
      .array(z.object({ path: z.string().describe('The operation'), message: z.string() }))
      .describe('Operations that were left out, and why; the first 50'),
    skipped: z.int().describe('How many operations were left out'),
    changes: z
      .object({ added: names('New actions'), removed: names('Removed actions'), changed: names('Other actions') })
      .nullable()
      .describe('Compared with the service that has this name; null if there is none'),
  })
  .meta({ id: 'ServiceImport' })
export type ServiceImport = z.input<typeof ServiceImport>
