import { makeAlertWatcher } from '#areas/alerts/watcher'
import { forgetRunLabels } from '#areas/executions/content'
import { forgetRunBlocks } from '#areas/executions/indexing'
import { forgetRunLogs } from '#areas/executions/logs'
import { mergeEverywhere } from '#areas/executions/merging'
import { forgetRunFigures } from '#areas/insights/rollup'
import { forgetUsage } from '#areas/insights/usage'
import { forgetServiceErrors } from '#areas/services/errors'
import type { Areas, Parts } from './areas.ts'
import { type MaintenanceTasks, startMaintenance } from './maintenance.ts'

/** Starts the background work of the areas. An API server leaves alerts and maintenance to other processes. */
export async function startBackground(
  parts: Pick<Parts, 'config' | 'db' | 'log' | 'baseUrl'> & { clearUpAtStart?: boolean | undefined },
  areas: Areas,
) {
  const { config, db, log, baseUrl, clearUpAtStart = true } = parts
  const { threads, reaching, conversations, services, knowledge, providers } = areas
  const alerts = makeAlertWatcher({ db, log, mail: providers.mail, sendToChannel: threads.sendToChannel, baseUrl })
  conversations.start()
  // None of them depends on another.
  await Promise.all([
    threads.start(),
    reaching.start(),
    services.start(),
    knowledge.start(),
    ...(config.role === 'api' ? [] : [alerts.start()]),
  ])
  if (config.role === 'api') return { stop: async () => {} }
  const retentionDays = config.HEDDLE_RETENTION_DAYS
  const maintenance = startMaintenance({ db, log, retentionDays, tasks: tasksOf(parts, areas), clearUpAtStart })
  return {
    async stop(): Promise<void> {
      await maintenance.stop()
      await alerts.stop()
    },
  }
}

/** Returns the maintenance tasks that run every hour. */
function tasksOf({ config, db }: Pick<Parts, 'config' | 'db'>, areas: Areas): MaintenanceTasks {
  const { workflows, jobs, data, destinations, files, threads, reaching, conversations } = areas
  return {
    'journal of executions': workflows.maintain,
    'events from outside': workflows.forgetEvents,
    'trials of drafts': workflows.forgetTrials,
    'replays of versions': workflows.forgetReplays,
    'usage of language models': () => forgetUsage(db, config.HEDDLE_RETENTION_DAYS),
    'labels of runs': () => forgetRunLabels(db, config.HEDDLE_RETENTION_DAYS),
    'index of runs': () => forgetRunBlocks(db, config.HEDDLE_RETENTION_DAYS),
    'small blocks of the index of runs': () => mergeEverywhere(db),
    'logs of runs': () => forgetRunLogs(db, config.HEDDLE_RETENTION_DAYS),
    'errors of services': () => forgetServiceErrors(db, config.HEDDLE_RETENTION_DAYS),
    'figures of runs': () => forgetRunFigures(db),
    'tokens of programs': () => db.maintain('select forget_oauth_tokens(1000)'),
    'ledger of jobs': jobs.maintain,
    'files of warehouses': data.maintain,
    'deliveries of events': destinations.maintain,
    ...files.tasks,
    ...threads.tasks,
    ...reaching.tasks,
    ...conversations.tasks,
  }
}

/** Stops the areas in the order of their dependencies. */
export async function stopAreas(areas: Areas): Promise<void> {
  await areas.services.stop()
  await areas.threads.stop()
  await areas.reaching.stop()
  await areas.knowledge.stop()
  await areas.conversations.stop()
  await areas.jobs.stop()
  await areas.destinations.stop()
  await areas.workflows.stop()
  await areas.services.errors.stop()
  await areas.credentials.stop()
  await areas.payments.stop()
  await areas.providers.stop()
  await areas.data.stop()
}
