import type { Json, JsonObject } from '#model/definition'
import type { Requirement } from '../index.ts'

// A message, and the values that a careful person would enter in the form. The messages are sent on Wednesday, 12
// November 2025, at 10:30 in Berlin unless a zone is given. An absent expected value means: ask again instead of
// guessing.

export const SENT_AT = new Date('2025-11-12T09:30:00Z')
export const DEFAULT_ZONE = 'Europe/Berlin'

export type Case = {
  message: string
  wants: (Requirement | string)[]
  values: JsonObject
  timeZone?: string
  known?: JsonObject
  asked?: string
}

export const field = (name: string, schema?: JsonObject, description?: string): Requirement => ({
  name,
  ...(schema ? { schema } : {}),
  ...(description ? { description } : {}),
})
export const text: JsonObject = { type: 'string' }
export const number: JsonObject = { type: 'number' }
export const integer: JsonObject = { type: 'integer' }
export const flag: JsonObject = { type: 'boolean' }
export const date: JsonObject = { type: 'string', format: 'date' }
export const moment: JsonObject = { type: 'string', format: 'date-time' }
export const email: JsonObject = { type: 'string', format: 'email' }
export const uri: JsonObject = { type: 'string', format: 'uri' }
export const oneOf = (...options: Json[]): JsonObject => ({ enum: options })
export const money: JsonObject = {
  type: 'object',
  properties: { amount: number, currency: text },
  required: ['amount', 'currency'],
}

export const guests = field('guests', integer, 'How many people will come')
export const day = field('date', date)
export const table = [guests, day, field('time', text)]
export const stay = [field('check_in', date), field('check_out', date), field('rooms', integer)]
export const trip = [
  field('origin', text),
  field('destination', text),
  field('departure_date', date),
  field('return_date', date),
]
export const contact = [field('name', text), field('email', email), field('phone', text)]
export const size = field('size', oneOf('S', 'M', 'L', 'XL'))
export const color = field('color', oneOf('red', 'green', 'blue', 'black'))
export const shipping = field('shipping', oneOf('Standard delivery', 'Express delivery', 'Pick up in store'))
export const priority = field('priority', oneOf('low', 'normal', 'high', 'urgent'))
export const ticket = [field('subject', text), priority]
export const expense = [
  field('amount', number, 'Amount of the expense'),
  field('currency', oneOf('EUR', 'USD', 'GBP')),
  field('category', oneOf('travel', 'meals', 'software', 'other')),
]
export const leave = [field('start_date', date), field('end_date', date), field('reason', text)]

export const inZone = (timeZone: string, message: string, wants: Case['wants'], values: JsonObject): Case => ({
  message,
  wants,
  values,
  timeZone,
})
export const say = (message: string, wants: Case['wants'], values: JsonObject): Case => ({ message, wants, values })
export const reply = (
  asked: string,
  message: string,
  wants: Case['wants'],
  values: JsonObject,
  known?: JsonObject,
): Case => ({
  message,
  wants,
  values,
  asked,
  ...(known ? { known } : {}),
})
