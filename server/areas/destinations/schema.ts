import { z } from 'zod'
import { eventFamilies, eventTypes } from '#model/event-types'
import { anyId, anyOf, anyText, defineList, flag } from '#platform/http/list'
import { id, jsonObject, reference, timestamp } from '#platform/http/schema'

export const offReasons = ['manual', 'owner_left', 'no_access', 'failing', 'gone', 'too_many'] as const
export type OffReason = (typeof offReasons)[number]

export const deliveryStatuses = ['pending', 'delivered', 'failed'] as const

const subscribable = [...eventFamilies, ...Object.keys(eventTypes)]

const event_types = z
  .array(z.enum(subscribable as [string, ...string[]]))
  .min(1)
  .max(subscribable.length)
  .transform((types) => [...new Set(types)].sort())
  .describe('Types of events, or all of a kind, such as `execution.*`')

const url = z.string().min(1).max(2_000).describe('Where events are sent, with POST; https')

export const Destination = z
  .object({
    destination_id: id('dest'),
    url: z.string(),
    event_types: z.array(z.string()),
    workflow_id: id('wf').nullable(),
    credential_id: id('cred').nullable(),
    owner_id: id('usr').nullable().describe('The owner: the destination receives only events that this person may see'),
    enabled: z.boolean(),
    off_reason: z.enum(offReasons).nullable(),
    off_message: z.string().nullable().describe('Why it is off, as text'),
    off_at: timestamp().nullable(),
    pending: z.int().describe('Deliveries that have not ended'),
    failures: z.int().describe('Failed attempts since the last delivery that was accepted'),
    last_success_at: timestamp().nullable(),
    last_failure_at: timestamp().nullable(),
    previous_secret_until: timestamp()
      .nullable()
      .describe('Until this time deliveries are also signed with the previous secret'),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'EventDestination' })
export type Destination = z.input<typeof Destination>

export const NewDestination = z
  .strictObject({
    url,
    event_types,
    workflow_id: reference('wf').nullish().describe('Only events of executions of this workflow'),
    credential_id: reference('cred').nullish().describe('Applied to each delivery, in addition to the signature'),
  })
  .meta({ id: 'NewEventDestination' })
export type NewDestination = z.output<typeof NewDestination>

export const DestinationPatch = z
  .strictObject({
    url: url.optional(),
    event_types: event_types.optional(),
    workflow_id: reference('wf').nullish(),
    credential_id: reference('cred').nullish(),
    enabled: z.boolean().optional(),
  })
  .meta({ id: 'EventDestinationPatch' })
export type DestinationPatch = z.output<typeof DestinationPatch>

/** The secret is shown when it is created, and never again. */
const secret = z.string().describe('Signs each delivery (Standard Webhooks); shown only now')

export const CreatedDestination = Destination.extend({ secret }).meta({ id: 'CreatedEventDestination' })
export const RotatedSecret = z
  .object({ secret, previous_secret_until: timestamp() })
  .meta({ id: 'RotatedEventDestinationSecret' })

export const Delivery = z
  .object({
    delivery_id: id('dlv').describe('Sent as `webhook-id`, the same on every attempt'),
    destination_id: id('dest'),
    type: z.string(),
    event_at: timestamp(),
    execution_id: id('exe').nullable(),
    seq: z.int().nullable(),
    status: z.enum(deliveryStatuses),
    attempts: z.int(),
    next_attempt_at: timestamp().nullable(),
    last_attempt_at: timestamp().nullable(),
    answer_status: z.int().nullable(),
    answer_text: z.string().nullable().describe('The beginning of the answer'),
    problem: z.string().nullable().describe('Why the last attempt failed'),
    duration_ms: z.int().nullable(),
    created_at: timestamp(),
  })
  .meta({ id: 'EventDelivery' })
export type Delivery = z.input<typeof Delivery>

export const destinationList = defineList({
  id: 'destination_id',
  search: ['url'],
  sort: { created_at: 'id', updated_at: 'time', url: 'text' },
  order: '-created_at',
  filters: {
    enabled: flag('Only those that are enabled, or only those that are not'),
    workflow_id: anyId('wf', 'Only those for this workflow alone'),
    owner_id: anyId('usr', 'Only those of this owner'),
  },
})

export const deliveryList = defineList({
  id: 'delivery_id',
  search: ['type', 'problem'],
  sort: { created_at: 'id' },
  order: '-created_at',
  idsByTime: true,
  filters: {
    status: anyOf(deliveryStatuses),
    type: anyText('Only events of this type, or one of several, separated by commas'),
    execution_id: anyId('exe', 'Only events of this execution'),
  },
})

export const DestinationTest = z
  .object({
    ok: z.boolean(),
    answer_status: z.int().nullable(),
    answer_text: z.string().nullable(),
    message: z.string(),
    duration_ms: z.int(),
    tested_at: timestamp(),
  })
  .meta({ id: 'EventDestinationTest' })
export type DestinationTest = z.input<typeof DestinationTest>

/** The message that a receiver gets. */
export const EventMessage = z.object({ type: z.string(), timestamp: z.string(), data: jsonObject() })
export type EventMessage = z.output<typeof EventMessage>
