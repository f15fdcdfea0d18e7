import { approvals } from './approvals.ts'
import { data } from './data.ts'
import { language } from './language.ts'
import { messages } from './messages.ts'
import { operations } from './operations.ts'
import type { Recipe } from './recipe.ts'
import { requests } from './requests.ts'

export const recipes: readonly Recipe[] = [...approvals, ...data, ...requests, ...language, ...operations, ...messages]
