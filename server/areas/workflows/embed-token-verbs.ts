import { page } from '#platform/http/schema'
import {
  EmbedToken,
  EmbedTokenMade,
  EmbedTokenPatch,
  EmbedTokenShown,
  NewEmbedToken,
  tokenList,
} from './token-schema.ts'
import type { EmbedOwner, makeEmbedTokens } from './tokens.ts'

/** The operations on embed tokens, with their input and output. They are the same for workflows and templates. */
export const embedTokenVerbs = <Owner extends EmbedOwner>(tokens: ReturnType<typeof makeEmbedTokens<Owner>>) => ({
  list: { query: tokenList.query, answer: page(EmbedToken), run: tokens.listEmbedTokens },
  create: {
    body: NewEmbedToken,
    answer: EmbedTokenMade,
    status: 201 as const,
    location: ({ token_id }: Record<string, string>, path: string) => `${path}/${token_id}`,
    run: tokens.createEmbedToken,
  },
  get: { answer: EmbedTokenShown, run: tokens.getEmbedToken },
  update: {
    body: EmbedTokenPatch,
    answer: EmbedTokenShown,
    current: tokens.getEmbedToken,
    run: tokens.updateEmbedToken,
  },
  delete: { status: 204 as const, current: tokens.getEmbedToken, run: tokens.deleteEmbedToken },
})
