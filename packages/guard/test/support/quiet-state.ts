import type { GuardState } from '../../src/metrics/metrics.js';

/** The state of an idle guard. */
export const quietState: GuardState = {
  servesNone: () => false,
  connections: () => 0,
  loginLocks: () => 0,
  loginsWaiting: () => 0,
  upstreamWaiting: () => 0,
  storageWaiting: () => 0,
  visits: () => ({ dropped: 0, waiting: 0 }),
  storageErrors: () => [],
  connectors: () => [],
};
