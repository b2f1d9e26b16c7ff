import type { Measure } from '../measure.js';
import { forwarding } from './p2-forwarding.js';
import { streaming } from './p2-streaming.js';
import { frontPage } from './p2-wordpress.js';

/** What guard costs those whom it lets through. */
export const allowedRequests: Measure = {
  id: 'p2',
  title: 'what guard adds to an allowed request',
  async run(bench) {
    return [...(await forwarding(bench)), ...(await frontPage(bench)), ...(await streaming(bench))];
  },
};
