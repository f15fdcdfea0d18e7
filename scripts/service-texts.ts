import { serviceCatalogue } from '#providers/services/catalogue'

/**
 * Prints the texts of built-in services that the console shows, for its language catalogue: `web/words/catalogue.ts`
 * reads them.
 */
export function printServiceTexts(): string {
  const texts = new Set<string>()
  for (const { description, actions, triggers, hooks } of serviceCatalogue().values()) {
    texts.add(description)
    for (const one of [...actions.values(), ...triggers.values(), ...hooks.values()]) {
      texts.add(one.title).add(one.description)
      const fields = (one.args_schema.properties ?? {}) as Record<string, { description?: string }>
      for (const field of Object.values(fields)) if (field.description !== undefined) texts.add(field.description)
    }
  }
  return `${JSON.stringify([...texts].sort(), null, 2)}\n`
}
