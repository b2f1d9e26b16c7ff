import type { RawHeaders } from '../http/headers.js';
import type { HarmlessResponse } from './rule.js';

/** Facts about a response. */
export interface ShownResponse {
  /** The connector signed it. */
  readonly isFromWordPress: boolean;
  /** The connector confirmed in its signature that it checked the user, and allowed the request. */
  readonly isFromRegisteredUser: boolean;
  readonly headers: RawHeaders;
}

/**
 * Types of feeds (WordPress: `feed_content_type`), and those that web servers set for a stored feed. A page is HTML, or
 * `application/xhtml+xml`.
 */
const FEED_TYPE = /^(?:text\/xml|application\/(?:xml|(?:rss|atom|rdf)\+xml))(?:$|[ ;])/i;

/** Whether a response proves that the path was not what its name suggests, so that it may be sent to the client. */
export function isHarmlessResponse(
  unless: HarmlessResponse,
  { isFromWordPress, isFromRegisteredUser, headers }: ShownResponse,
): boolean {
  if (unless === 'from-wordpress') return isFromWordPress;
  if (unless === 'from-member') return isFromRegisteredUser;
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i]?.toLowerCase() === 'content-type' && FEED_TYPE.test(headers[i + 1] as string)) return false;
  }
  return true;
}
