import type { ServerResponse } from 'node:http';
import type { SecondFactorDoor } from './second-factor-door.js';

/** Lets nobody in who needs a second factor: without the means to check one, a password alone must not do. */
export const closedDoor: SecondFactorDoor = {
  handle: (_request, response) => refuse(response),
  begin: (_request, response) => refuse(response),
  trustedUsers: () => [],
};

function refuse(response: ServerResponse): void {
  response
    .writeHead(503, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' })
    .end('Two-factor authentication is not available at the moment. Ask your hosting provider.\n');
}
