import type { GuardState } from '../../src/metrics/metrics.js';

/** The state of an idle guard. */
export const quietState: GuardState = {
  connections: () => 0,
  loginLocks: () => 0,
  loginsWaiting: () => 0,
  upstreamWaiting: () => 0,
  visits: () => ({ dropped: 0, waiting: 0 }),
  storageErrors: () => [],
  connectors: () => [],
};
