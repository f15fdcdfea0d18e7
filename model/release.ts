/**
 * Incremented by every release that understands more than earlier releases: another type of node or of journal event.
 * While several releases run side by side, an older release leaves executions that it does not understand to the newer
 * release.
 */
export const RELEASE = 2
