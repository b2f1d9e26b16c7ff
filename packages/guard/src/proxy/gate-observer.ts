import type { UpstreamFailure } from './upstream/upstream-connection.js';

/** Who counts what happens at the gate. Told while a visitor waits: must be quick, and never throw. */
export interface GateObserver {
  /** A request has come, whatever becomes of it. */
  requested(): void;
  /** A rule has refused one. @param rule its name as in the log; never anything a visitor has written */
  refused(rule: string): void;
  /** The head of WordPress's answer goes out. @param ms time since the request's head had come, milliseconds */
  forwarded(status: number, ms: number): void;
  /** WordPress gave no whole answer. */
  upstreamFailed(kind: UpstreamFailure): void;
  /** A password was wrong. */
  loginFailed(): void;
}

const nothing = (): void => undefined;

/** Counts nothing. */
export const noObserver: GateObserver = {
  requested: nothing,
  refused: nothing,
  forwarded: nothing,
  upstreamFailed: nothing,
  loginFailed: nothing,
};
