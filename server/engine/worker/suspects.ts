// Executions that were running when their worker died twice may have killed it. They run in groups that become
// smaller with each crash (as `engine.suspicion` of migration 0706), so the execution that is parked in the end ran
// without another suspect.

export const ROOM_FOR_SUSPECTS = 16
const SUSPECT = 2

/** Returns how much of the room an execution takes, by the number of its crashes. */
export const suspicion = (crashes: number): number =>
  crashes < SUSPECT ? 0 : Math.min(ROOM_FOR_SUSPECTS, 4 ** (crashes - SUSPECT))
