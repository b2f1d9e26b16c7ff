import type { ServerResponse } from 'node:http';

/** Bytes up to which copying is cheaper than a second buffer in the system call. */
const SHORT_BODY = 4096;

/**
 * Ends an answer whose head is written but not sent. A head and its whole short body go out in one plain system call.
 * `end(body)` would send them, and an empty piece, in a gathering one, which costs half as much again: it is the most
 * expensive thing that guard does with a request.
 *
 * @param body what is still missing of it; undefined when nothing is
 * @param whole no part of the body has gone out before
 */
export function endAnswer(response: ServerResponse, body: Buffer | undefined, whole: boolean): void {
  if (!whole || body === undefined || body.length === 0 || body.length > SHORT_BODY) {
    response.end(body);
    return;
  }
  const { socket } = response;
  socket?.cork();
  response.write(body.toString('latin1'), 'latin1');
  socket?.uncork();
  response.end();
}
