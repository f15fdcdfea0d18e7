/** The service cannot start until a person does what the message says; it is shown without a stack. */
export class StartRefused extends Error {}
