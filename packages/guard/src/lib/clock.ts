/** Milliseconds since the Unix epoch. Handed in wherever a rule depends on time, so that tests can move it. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();
