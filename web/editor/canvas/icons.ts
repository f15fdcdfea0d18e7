import {
  Bell,
  Bot,
  Box,
  Braces,
  ChartColumn,
  Code,
  Database,
  Globe,
  type LucideIcon,
  Mail,
  MessageCircleQuestionMark,
  MessageSquare,
  OctagonX,
  Plug,
  Repeat,
  Scale,
  ScanText,
  Send,
  Shuffle,
  Sparkles,
  Split,
  Stamp,
  Table,
  Timer,
  Trophy,
  Workflow,
} from 'lucide-react'

const icons: Record<string, LucideIcon> = {
  bell: Bell,
  bot: Bot,
  braces: Braces,
  chart: ChartColumn,
  code: Code,
  database: Database,
  globe: Globe,
  mail: Mail,
  'message-circle-question': MessageCircleQuestionMark,
  'message-square': MessageSquare,
  'octagon-x': OctagonX,
  plug: Plug,
  repeat: Repeat,
  scale: Scale,
  'scan-text': ScanText,
  send: Send,
  shuffle: Shuffle,
  sparkles: Sparkles,
  split: Split,
  stamp: Stamp,
  table: Table,
  timer: Timer,
  trophy: Trophy,
  workflow: Workflow,
}

/** The palette names an icon; one that is not known here is a box. */
export const iconOf = (name: string | undefined): LucideIcon => (name !== undefined && icons[name]) || Box

/** Only a colour, whatever else the text may be. */
export const colourOf = (colour: string | undefined): string =>
  colour !== undefined && /^#[0-9a-f]{6}$/i.test(colour) ? colour : '#64748b'
