import type { ServerResponse } from 'node:http';
import { CLOSED_EARLY } from '../activity/visit.js';
import type { Pass } from './examine.js';
import type { GateDeps } from './gate-deps.js';

/**
 * Gets a response ready for another part of guard, which writes the answer: the rules' headers are set.
 * @param note told of its status as soon as it is written
 */
export function prepareAnswer(
  { onFault }: Pick<GateDeps, 'onFault'>,
  { policy, facts }: Pass,
  response: ServerResponse,
  note: (status: number, rule: null) => void,
): void {
  const headers: string[] = [];
  policy.editHeaders(facts, headers, onFault);
  for (let i = 0; i < headers.length; i += 2) response.setHeader(headers[i] as string, headers[i + 1] as string);
  response.once('close', () => note(response.headersSent ? response.statusCode : CLOSED_EARLY, null));
}
