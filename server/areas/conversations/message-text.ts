import { z } from 'zod'
import { isStorableText } from '#model/storable'

/** Checks whether a text has only blanks and invisible characters. */
const isBlank = (text: string): boolean => text.replace(/[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '') === ''

/** Text that PostgreSQL can store: no NUL and no lone surrogates, which forms can contain and JSON cannot. */
export const storableText = z.string().max(8000).refine(isStorableText, 'holds characters that are no text')

export const messageText = storableText.refine((text) => !isBlank(text), 'must not be empty')

/** Ids of files that were already uploaded. */
export const sentFiles = z
  .array(z.string().max(200))
  .min(1)
  .max(10)
  .describe('Ids of files that the sender has uploaded, at most 10')

export const saysSomething = ({ message, files }: { message: string; files?: string[] | undefined }): boolean =>
  !isBlank(message) || (files !== undefined && message === '')
