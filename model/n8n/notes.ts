import { withoutSecrets } from './secrets.ts'
import type { ReportLine } from './types.ts'

type Note = { outcome: 'remark' | 'by_hand'; why: string }

/** The report about one n8n node. */
export class Notes {
  private readonly all: Note[] = []

  remark(why: string): void {
    this.note('remark', why)
  }

  byHand(why: string): void {
    this.note('by_hand', why)
  }

  private note(outcome: Note['outcome'], why: string): void {
    const clean = withoutSecrets(why).text.slice(0, 400)
    if (!this.all.some((one) => one.outcome === outcome && one.why === clean)) this.all.push({ outcome, why: clean })
  }

  /** Returns the reasons noted so far for one outcome. */
  noted(wanted: Note['outcome']): string[] {
    return this.all.filter(({ outcome }) => outcome === wanted).map(({ why }) => why)
  }

  outcome(): Pick<ReportLine, 'outcome' | 'why'> {
    const outcome = this.all.some((one) => one.outcome === 'by_hand')
      ? 'by_hand'
      : this.all.length > 0
        ? 'remark'
        : 'converted'
    const why = this.all
      .filter((one) => outcome !== 'by_hand' || one.outcome === 'by_hand')
      .slice(0, 8)
      .map((one) => one.why)
      .join('; ')
    return { outcome, why }
  }
}
