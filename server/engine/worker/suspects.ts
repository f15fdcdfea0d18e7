// Executions that were under way when their worker died twice may be what killed it. They run in groups that get smaller
// with each crash (as `engine.suspicion` of migration 0706): the one that is parked in the end ran with no other suspect.

export const ROOM_FOR_SUSPECTS = 16
const SUSPECT = 2

/** How much of the room an execution takes, by the number of its crashes. */
export const suspicion = (crashes: number): number =>
  crashes < SUSPECT ? 0 : Math.min(ROOM_FOR_SUSPECTS, 4 ** (crashes - SUSPECT))
