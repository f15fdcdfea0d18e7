import { approvals } from './approvals.ts'
import { data } from './data.ts'
import { language } from './language.ts'
import { messages } from './messages.ts'
import { operations } from './operations.ts'
import type { Recipe, UseCase } from './recipe.ts'
import { requests } from './requests.ts'

export const recipes: readonly Recipe[] = [...approvals, ...data, ...requests, ...language, ...operations, ...messages]

export const useCases: readonly UseCase[] = [...new Set(recipes.map(({ use }) => use))]
