import type { RawHeaders } from '../http/headers.js';
import type { HarmlessResponse } from './rule.js';

/** What a response shows of itself. */
export interface ShownResponse {
  /** The connector signed it. */
  readonly isFromWordPress: boolean;
  /** The connector signed that it looked who asked, and let the request go on. */
  readonly isFromRegisteredUser: boolean;
  readonly headers: RawHeaders;
}

/**
 * Types of feeds (WordPress: `feed_content_type`) and those that web servers give to a stored one. A page is HTML, also
 * as `application/xhtml+xml`.
 */
const FEED_TYPE = /^(?:text\/xml|application\/(?:xml|(?:rss|atom|rdf)\+xml))(?:$|[ ;])/i;

/** Whether a response shows that the path was not what its name looks like, so that it may be sent on. */
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
