/**
 * Milliseconds since the Unix epoch. Passed as an argument wherever a rule depends on time, so that tests can change
 * it.
 */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();
