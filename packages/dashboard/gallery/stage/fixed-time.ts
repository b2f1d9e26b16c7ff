import { LOG_NOW } from '../../test/fake-log.js';

/**
 * Lets every clock of this document show the moment of the sample data: 21 November 2026, 14:32 UTC. Timers run on, as
 * what appears after a while should do so here too.
 */
export function fixTime(): void {
  const now = LOG_NOW * 1000;
  const Real = Date;
  globalThis.Date = new Proxy(Real, {
    construct: (target, parts: []) => (parts.length === 0 ? new target(now) : new target(...parts)),
    get: (target, name) => (name === 'now' ? () => now : Reflect.get(target, name)),
  });
}
