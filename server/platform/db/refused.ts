/** The service cannot start until a person follows the message. The message is shown without a stack. */
export class StartRefused extends Error {}
