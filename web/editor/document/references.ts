import type { Json } from '#model/definition'
import { isCel, isReference } from '#model/expression-shape'
