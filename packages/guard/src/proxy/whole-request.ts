import type { IncomingMessage } from 'node:http';

/** How often it is looked whether more of a body has come, milliseconds. */
const LOOK_MS = 20;

/**
 * Waits until a request has come whole, or as much of it as comes before somebody reads: what comes slowly must not
 * hold what others wait for. Reads nothing.
 *
 * @param then told whether it is whole
 * @returns stops waiting
 */
export function whenWhole(request: IncomingMessage, then: (whole: boolean) => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    // Whoever waits for `100 Continue` sends nothing before.
    const isAll = request.readableLength >= request.readableHighWaterMark || request.headers.expect !== undefined;
    if (request.complete) then(true);
    else if (isAll) then(false);
    else timer = setTimeout(look, LOOK_MS);
  };
  // A body that came with the head is parsed behind the call that brought us here.
  const first = setImmediate(look);
  return () => {
    clearImmediate(first);
    clearTimeout(timer);
  };
}
