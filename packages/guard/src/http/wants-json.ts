import type { IncomingHttpHeaders } from 'node:http';
import type { RequestFacts } from './request-facts.js';

/**
 * Whether a response that guard creates itself should be JSON, because a program reads it: a script in a page, a phone
 * app, a client of the REST API. A navigation never gets JSON, since a person views the response. Only the format of a
 * response may depend on this, because a client can send any of these headers.
 *
 * - A request to the REST API or to `admin-ajax.php` gets JSON, whatever it accepts, as WordPress responds there.
 * - Otherwise `Accept` (RFC 9110 section 12.5.1) decides when it names JSON or HTML.
 * - Otherwise it gets JSON if a script sent it: `X-Requested-With: XMLHttpRequest`, or Fetch Metadata (W3C) of `fetch`
 *   or `XMLHttpRequest`.
 *
 * @param facts null when the request could not be read; then only the headers are used
 */
export function wantsJson(
  headers: IncomingHttpHeaders,
  facts: Pick<RequestFacts, 'restRoute' | 'segments'> | null,
): boolean {
  if (headers['sec-fetch-mode'] === 'navigate') return false;
  if (facts !== null && (facts.restRoute !== null || facts.segments.includes('admin-ajax.php'))) return true;
  const preferred = findPreferredFormat(headers.accept);
  return preferred === null ? isSentByScript(headers) : preferred === 'json';
}

/** Modes of Fetch Metadata in which a script may read the response. */
const READABLE_MODES: ReadonlySet<unknown> = new Set(['cors', 'same-origin']);

function isSentByScript(headers: IncomingHttpHeaders): boolean {
  const requestedWith = headers['x-requested-with'];
  if (typeof requestedWith === 'string' && requestedWith.trim().toLowerCase() === 'xmlhttprequest') return true;
  return headers['sec-fetch-dest'] === 'empty' && READABLE_MODES.has(headers['sec-fetch-mode']);
}

const HTML_TYPES: ReadonlySet<string> = new Set(['text/html', 'application/xhtml+xml']);
const JSON_TYPE = /^[^/]+\/(?:json|[^/]+\+json)$/;

/**
 * Which of JSON and HTML the client prefers explicitly, or null. Ranges such as `text/*` name neither. Of equal weights
 * the first one in the header wins, which RFC 9110 leaves open.
 */
function findPreferredFormat(accept: string | undefined): 'json' | 'html' | null {
  if (accept === undefined) return null;
  let best: { readonly format: 'json' | 'html'; readonly weight: number } | null = null;
  for (const range of accept.split(',')) {
    const [name = '', ...parameters] = range.split(';');
    const type = name.trim().toLowerCase();
    const format = JSON_TYPE.test(type) ? 'json' : HTML_TYPES.has(type) ? 'html' : null;
    if (format === null) continue;
    const weight = readWeight(parameters);
    if (weight > (best?.weight ?? 0)) best = { format, weight };
  }
  return best?.format ?? null;
}

/** Weight of a media range, from 0 to 1. An invalid weight counts as 1, like a missing one. */
function readWeight(parameters: readonly string[]): number {
  for (const parameter of parameters) {
    const match = /^\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*$/i.exec(parameter);
    if (match !== null) return Math.min(1, Number(match[1]));
  }
  return 1;
}
