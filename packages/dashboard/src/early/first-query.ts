import type { ApiCall } from '../api/send.js';
import type { Query } from '../data/query-client.js';

/** Data that a page shows when it is first drawn, with the call that brings them. */
export interface FirstQuery {
  readonly call: ApiCall;
  readonly query: Query<unknown>;
}
