/** Something that is ready to be sent. */
export interface Ready {
  /** Sends it; called once. Must not throw. */
  sendNow(): void;
}

let ready: Ready[] = [];

/**
 * Sends at the end of this turn of the event loop, together with what else became ready in it.
 *
 * Each system call that sends wakes the other side, and on a busy machine waking is what costs most: the other side
 * runs, finds one message, and sleeps again. Sent one after the other, a whole turn's messages are found at once. A
 * turn that holds one message is over at once, so nobody waits for company.
 */
export function sendTogether(item: Ready): void {
  if (ready.length === 0) setImmediate(sendAll);
  ready.push(item);
}

function sendAll(): void {
  const items = ready;
  ready = [];
  for (const item of items) item.sendNow();
}
