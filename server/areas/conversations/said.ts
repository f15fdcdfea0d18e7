import { z } from 'zod'

/** Nothing but blanks and signs nobody sees is no message. */
const isBlank = (text: string): boolean => text.replace(/[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '') === ''

/** What somebody wrote. Forms bring what JSON does not: NUL and halves of characters, which cannot be stored. */
export const written = z
  .string()
  .max(8000)
  .refine((text) => !text.includes('\0') && text.isWellFormed(), 'holds characters that are no text')

export const said = written.refine((text) => !isBlank(text), 'must not be empty')
