import type { IncomingMessage } from 'node:http';
import { cutSlowBody } from './slow-body.js';
import type { BodyLane, Uploader } from './upstream/body-lane.js';
import { whenWhole } from './whole-request.js';

/** How long a short body is waited for before it counts as a long one, milliseconds. */
const BODY_MS = 1000;

/**
 * Waits until a request with a body may take a connection to WordPress: at once when it has come whole, else when the
 * lane for long and slow bodies has a place. Reads nothing.
 *
 * @param from whose it is
 * @param idleMs longest silence of a client
 * @returns to be called when the body is sent, and when the request is over; gives the place back
 */
export function awaitBody(
  request: IncomingMessage,
  lane: BodyLane,
  from: string,
  idleMs: number,
  then: { ready(): void; refused(): void },
): () => void {
  let entered = false;
  const uploader: Uploader = {
    from,
    granted() {
      stop = cutSlowBody(request, idleMs);
      then.ready();
    },
    refused: then.refused,
  };
  let stop = whenWhole(
    request,
    (whole) => {
      entered = !whole;
      if (whole) then.ready();
      else lane.enter(uploader);
    },
    BODY_MS,
  );
  return () => {
    stop();
    if (entered) lane.leave(uploader);
  };
}
