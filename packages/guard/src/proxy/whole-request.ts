import type { IncomingMessage } from 'node:http';

/** Longest pause before it is looked again whether more of a body has come, milliseconds; the first is 1. */
const LOOK_MS = 20;

/**
 * Waits until a request has come whole, or as much of it as comes before somebody reads: what comes slowly must not
 * hold what others wait for. Reads nothing.
 *
 * @param then told whether it is whole
 * @param mostMs after this time it is not waited for any longer
 * @returns stops waiting
 */
export function whenWhole(request: IncomingMessage, then: (whole: boolean) => void, mostMs = Infinity): () => void {
  let timer: NodeJS.Timeout | undefined;
  let waited = 0;
  let pause = 0.5;
  const look = (): void => {
    // Whoever waits for `100 Continue` sends nothing before.
    const isAll = request.readableLength >= request.readableHighWaterMark || request.headers.expect !== undefined;
    if (request.complete) then(true);
    else if (isAll || waited >= mostMs) then(false);
    else {
      pause = Math.min(LOOK_MS, pause * 2);
      waited += pause;
      timer = setTimeout(look, pause);
    }
  };
  // A body that came with the head is parsed behind the call that brought us here.
  const first = setImmediate(look);
  return () => {
    clearImmediate(first);
    clearTimeout(timer);
  };
}
