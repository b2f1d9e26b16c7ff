import type { ServerResponse } from 'node:http';

/** A write that is ready to be sent. */
export interface PendingWrite {
  /** Called once. Must not throw. */
  sendNow(): void;
}

let pending: PendingWrite[] = [];

/**
 * Schedules a write for the end of this turn of the event loop, together with all other writes of the turn.
 *
 * Each system call that sends wakes the receiving process. On a busy machine the wake-up is the largest cost: the
 * receiver runs, finds one message, and sleeps again. Writes that follow each other directly wake it once for all
 * messages. A turn with a single write ends at once, so nothing is delayed.
 */
export function scheduleWrite(item: PendingWrite): void {
  if (pending.length === 0) setImmediate(flushWrites);
  pending.push(item);
}

/** Sends all scheduled writes now, for a caller that is about to end a connection. */
export function flushWrites(): void {
  const items = pending;
  pending = [];
  for (const item of items) item.sendNow();
}

/** Bodies up to this length are cheaper to copy than to send as a second buffer, bytes. */
const SHORT_BODY = 4096;

/**
 * Ends a response. A head that is not sent yet and a short body are sent in one plain `write` system call. `end(body)`
 * would use a gathering one with an additional empty buffer, which costs half as much again. Sending is the largest
 * cost of a request in guard.
 *
 * @param body the remaining body, or undefined
 * @param isComplete whether `body` is the whole body
 */
export function endResponse(response: ServerResponse, body: Buffer | undefined, isComplete: boolean): void {
  if (!isComplete || body === undefined || body.length === 0 || body.length > SHORT_BODY) {
    response.end(body);
    return;
  }
  const { socket } = response;
  socket?.cork();
  response.write(body.toString('latin1'), 'latin1');
  socket?.uncork();
  response.end();
}
