import { ENDING_SIGNALS } from './signals.js';

/** Whether somebody wants a command to end that works on many sites. */
export interface Interruption {
  readonly isRequested: boolean;
  /** Lets signals end the process at once again. */
  close(): void;
}

/**
 * Lets a command for many sites end after the present one, so that no site is left half-done, and so that a running
 * guard learns about the others. A second signal ends the process at once.
 *
 * @param onRequest called for the first signal
 */
export function watchInterruption(onRequest: () => void): Interruption {
  let isRequested = false;
  const close = () => {
    for (const signal of ENDING_SIGNALS) process.off(signal, request);
  };
  const request = () => {
    isRequested = true;
    close();
    onRequest();
  };
  for (const signal of ENDING_SIGNALS) process.on(signal, request);
  return {
    get isRequested() {
      return isRequested;
    },
    close,
  };
}

/** Watches, and tells the operator what happens. */
export function endAfterThisSite(): Interruption {
  return watchInterruption(() => {
    process.stderr.write('Ends after this site; the same signal once more ends it at once.\n');
  });
}
