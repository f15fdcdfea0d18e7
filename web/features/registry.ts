import { approvals } from './approvals/feature.ts'
import type { Feature } from './feature.ts'
import { home } from './home/feature.ts'
import { runs } from './runs/feature.ts'
import { workflows } from './workflows/feature.ts'

/** Every feature of the console, in the order of the navigation. A new one is a folder and a line here. */
export const features: Feature[] = [home, workflows, runs, approvals]
