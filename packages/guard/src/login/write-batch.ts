import type { LoginEntry } from './lockout-rule.js';

/** Changes that are written together. */
export interface Batch {
  /** By key; null when nothing is left of the entry. */
  readonly changes: Map<string, LoginEntry | null>;
  /** Resolves once the write has ended, well or not. */
  readonly ended: Promise<void>;
  end(): void;
  /** Whether somebody waited in vain for it. */
  late: boolean;
}

export function newBatch(): Batch {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { changes: new Map(), ended, end, late: false };
}
