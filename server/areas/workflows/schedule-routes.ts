import { owner, viewer } from '#platform/access/rules'
import type { Context } from '#platform/http/context'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import { type BackfillParts, backfillSchedule, findBackfilled } from './backfill.ts'
import {
  Backfill,
  Backfilled,
  NewSchedule,
  Schedule,
  SchedulePatch,
  SchedulePut,
  scheduleList,
  WorkflowSchedule,
} from './schedule-schema.ts'
import * as schedules from './schedules.ts'

/** The input of an operation, which follows its parts and the context. */
type Body<Verb extends (parts: never, ctx: Context, input: never) => unknown> = Parameters<Verb>[2]

export const scheduleRoutes = (scheduling: schedules.ScheduleParts & BackfillParts): AnyRoute[] =>
  routes(
    'Workflows',
    {
      getSchedule: ['GET', '/api/workflows/:workflow_id/schedule', viewer('workflow')],
      putSchedule: ['PUT', '/api/workflows/:workflow_id/schedule', owner('workflow')],
      deleteSchedule: ['DELETE', '/api/workflows/:workflow_id/schedule', owner('workflow')],
      listSchedules: ['GET', '/api/workflows/:workflow_id/schedules', viewer('workflow')],
      createSchedule: ['POST', '/api/workflows/:workflow_id/schedules', owner('workflow')],
      getOneSchedule: ['GET', '/api/workflows/:workflow_id/schedules/:schedule_id', viewer('workflow')],
      updateSchedule: ['PATCH', '/api/workflows/:workflow_id/schedules/:schedule_id', owner('workflow')],
      removeSchedule: ['DELETE', '/api/workflows/:workflow_id/schedules/:schedule_id', owner('workflow')],
      backfillSchedule: ['POST', '/api/workflows/:workflow_id/schedules/:schedule_id/backfill', owner('workflow')],
    },
    {
      getSchedule: {
        summary: 'When the workflow starts by itself',
        answer: Schedule,
        extension: true,
        run: schedules.getSchedule,
      },
      putSchedule: {
        summary: 'Set the schedule: cron of five fields in a time zone',
        description:
          'A time missed while the service was down is made up for once. In the hour that daylight saving skips, it fires at the first minute that exists.',
        body: SchedulePut,
        answer: Schedule,
        extension: true,
        examples: { body: { cron: '0 9 * * 1-5', timezone: 'Europe/Amsterdam', input: {} } },
        current: schedules.presentSchedule,
        run: (ctx: Context, input: Body<typeof schedules.putSchedule>) => schedules.putSchedule(scheduling, ctx, input),
      },
      deleteSchedule: {
        summary: 'Remove the schedule',
        status: 204,
        extension: true,
        current: schedules.getSchedule,
        run: schedules.deleteFirstSchedule,
      },
      listSchedules: {
        summary: 'The schedules of a workflow, the oldest first',
        query: scheduleList.query,
        answer: page(WorkflowSchedule),
        extension: true,
        run: schedules.listSchedules,
      },
      createSchedule: {
        summary: 'Add a schedule: a cron pattern, an interval or one moment',
        body: NewSchedule,
        answer: WorkflowSchedule,
        status: 201,
        location: ({ schedule_id }, path) => `${path}/${schedule_id}`,
        extension: true,
        examples: { body: { cron: '0 9 * * 1-5', timezone: 'Europe/Amsterdam', overlap: 'skip', catch_up: 'none' } },
        run: (ctx: Context, input: Body<typeof schedules.createSchedule>) =>
          schedules.createSchedule(scheduling, ctx, input),
      },
      getOneSchedule: {
        summary: 'One schedule, with its next five times',
        answer: WorkflowSchedule,
        extension: true,
        run: schedules.getOneSchedule,
      },
      updateSchedule: {
        summary: 'Change a schedule; if its times change, the next time is computed again from now',
        body: SchedulePatch,
        answer: WorkflowSchedule,
        extension: true,
        current: schedules.getOneSchedule,
        run: (ctx: Context, input: Body<typeof schedules.updateSchedule>) =>
          schedules.updateSchedule(scheduling, ctx, input),
      },
      removeSchedule: {
        summary: 'Delete a schedule',
        status: 204,
        extension: true,
        current: schedules.getOneSchedule,
        run: schedules.removeSchedule,
      },
      backfillSchedule: {
        summary: 'Run a schedule for times that have passed, at most 500',
        description:
          'Each run has `scheduled_at`, the time for which it runs. A time that was requested within the last day is not run again. ' +
          '`overlap` and `catch_up` do not apply to these runs; the settings of the workflow do.',
        body: Backfill,
        answer: Backfilled,
        status: 202,
        transaction: false,
        idempotency: 'own',
        extension: true,
        examples: { body: { from: '2026-01-01T00:00:00Z', to: '2026-01-08T00:00:00Z' } },
        allowed: findBackfilled,
        run: (ctx: Context, input: Body<typeof backfillSchedule>) => backfillSchedule(scheduling, ctx, input),
      },
    },
  )
