import { account } from './account/feature.ts'
import { alerts } from './alerts/feature.ts'
import { approvals } from './approvals/feature.ts'
import { audit } from './audit/feature.ts'
import { billing } from './billing/feature.ts'
import { channels } from './channels/feature.ts'
import { companies } from './companies/feature.ts'
import { connections } from './connections/feature.ts'
import { credentials } from './credentials/feature.ts'
import { datasets } from './datasets/feature.ts'
import { destinations } from './destinations/feature.ts'
import type { Feature } from './feature.ts'
import { home } from './home/feature.ts'
import { inbox } from './inbox/feature.ts'
import { insights } from './insights/feature.ts'
import { jobs } from './jobs/feature.ts'
import { keys } from './keys/feature.ts'
import { knowledge } from './knowledge/feature.ts'
import { notifications } from './notifications/feature.ts'
import { operators } from './operators/feature.ts'
import { people } from './people/feature.ts'
import { questions } from './questions/feature.ts'
import { replays } from './replays/feature.ts'
import { runs } from './runs/feature.ts'
import { serviceAccounts } from './service-accounts/feature.ts'
import { services } from './services/feature.ts'
import { suites } from './suites/feature.ts'
import { teams } from './teams/feature.ts'
import { templates } from './templates/feature.ts'
import { threads } from './threads/feature.ts'
import { variables } from './variables/feature.ts'
import { workflows } from './workflows/feature.ts'

/** Every feature of the console, in the order of the navigation. A new feature is a folder and a line here. */
export const features: Feature[] = [
  home,
  workflows,
  runs,
  insights,
  alerts,
  approvals,
  questions,
  notifications,
  datasets,
  knowledge,
  connections,
  credentials,
  services,
  variables,
  destinations,
  jobs,
  suites,
  replays,
  inbox,
  threads,
  templates,
  channels,
  people,
  teams,
  companies,
  keys,
  serviceAccounts,
  billing,
  audit,
  operators,
  account,
]
