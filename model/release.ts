/**
 * Raised with every release that understands more than those before it: another type of node or of journal event. While
 * releases run side by side, an older one leaves executions that it does not understand to the newer one.
 */
export const RELEASE = 2
