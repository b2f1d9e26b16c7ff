import type { IncomingHttpHeaders } from 'node:http';
import { MAX_BODY_BYTES } from '@security-optimizer/contract/endpoint';
import { messages } from '@security-optimizer/contract/messages';
import { z } from 'zod';
import type { ApiRequest } from '../gateway/context.js';
import { isSameSite } from '../http/headers.js';
import { ApiError } from '../lib/api-error.js';
import type { WordPressUser } from '../wordpress/connector-responses.js';
import type { Sessions } from '../wordpress/session.js';

/**
 * Authenticates an API request. Runs before the body is read, so that anonymous clients cost as little as possible.
 *
 * @param fresh the request changes something, so a cached session is not enough
 * @param isWanted false once the client has disconnected
 * @returns the administrator who sent the request
 * @throws ApiError cross_site, rest_cookie_invalid_nonce, rest_forbidden, too_many_calls, wordpress_busy, or a fault of
 *   the connector
 */
export async function authenticate(
  sessions: Pick<Sessions, 'getUser'>,
  call: ApiRequest,
  headers: IncomingHttpHeaders,
  fresh: boolean,
  isWanted: () => boolean,
): Promise<WordPressUser> {
  if (!isSameSite(headers, call.host)) throw new ApiError('cross_site');
  const cookie = headers.cookie;
  const nonce = getNonce(headers, call.query);
  // Without them WordPress would refuse the request, too.
  if (!cookie || !nonce) throw new ApiError('rest_cookie_invalid_nonce');
  const { host, scheme, address, requestId, isRegisteredUser } = call;
  const sender = { host, scheme, address, requestId };
  const user = await sessions.getUser(
    call.site,
    { cookie, nonce, sender, isRegisteredUser: isRegisteredUser, isWanted },
    fresh,
  );
  if (user === null) throw new ApiError('rest_cookie_invalid_nonce');
  call.onRegisteredUser();
  if (!user.can_manage) throw new ApiError('rest_forbidden');
  return user;
}

/** Returns the nonce from the header or, as WordPress accepts it as well, from the query. */
function getNonce(headers: IncomingHttpHeaders, query: string): string | null {
  const header = headers['x-wp-nonce'];
  if (typeof header === 'string' && header !== '') return header;
  return new URLSearchParams(query).get('_wpnonce');
}

export { MAX_BODY_BYTES };

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a request body as JSON, whatever its Content-Type. An absent or blank body is an empty object.
 * A key named `__proto__` becomes an ordinary key, and schemas read only the keys they define.
 *
 * @throws ApiError invalid_json
 */
export function parseBody(bytes: Uint8Array): unknown {
  try {
    const text = utf8.decode(bytes);
    return text.trim() === '' ? {} : JSON.parse(text);
  } catch (cause) {
    // The parser's own message quotes the body, which must not be logged.
    throw new ApiError('invalid_json', { cause: new Error((cause as Error).name) });
  }
}

/**
 * Validates the input of an API request against the contract.
 *
 * @returns the parsed values
 * @throws ApiError invalid_input with one text per field; the field is `body` when the input is not an object
 */
export function parseInput(schema: z.core.$ZodType, input: unknown): unknown {
  const result = z.safeParse(schema, input, { error: toPlainText });
  if (result.success) return result.data;
  const fields: Record<string, string> = {};
  for (const issue of result.error.issues) {
    const name = issue.path.length > 0 ? issue.path.join('.') : 'body';
    fields[name] ??= issue.path.length > 0 ? issue.message : 'Send a JSON object.';
  }
  throw new ApiError('invalid_input', { fields });
}

/** Messages for fields whose schema has none; the validator's own messages are for programmers. */
function toPlainText(issue: { readonly input?: unknown }): string {
  return issue.input === undefined ? messages.required : messages.invalidFormat;
}

/** Parameters of a query by name; lists and objects are nested objects. */
export interface Query {
  [name: string]: string | Query;
}

/** Maximum number of brackets in a name; filters have six. */
const DEEPEST = 8;
const NAME = /^([^[]+)((?:\[[^[\]]*\])+)$/;

/**
 * Parses a query as PHP does: `filters[0][wp_name]=ip` is a nested member, `a[]` appends to a list, and the last of
 * equal names wins. The objects have no prototype, so that no name has a meaning in JavaScript.
 */
export function readQuery(query: string): Query {
  const read = empty();
  for (const [name, value] of new URLSearchParams(query)) put(read, parseName(name), value);
  return read;
}

function parseName(name: string): readonly string[] {
  const [, first, brackets] = NAME.exec(name) ?? [];
  if (first === undefined || brackets === undefined) return [name];
  const members = brackets.slice(1, -1).split('][');
  return members.length > DEEPEST ? [name] : [first, ...members];
}

function put(read: Query, path: readonly string[], value: string): void {
  let parent = read;
  for (const name of path.slice(0, -1)) parent = getMember(parent, name || getNextIndex(parent));
  parent[path.at(-1) || getNextIndex(parent)] = value;
}

function getMember(parent: Query, name: string): Query {
  const known = parent[name];
  if (typeof known === 'object') return known;
  const key = empty();
  parent[name] = key;
  return key;
}

/** Returns the index that `[]` appends. */
function getNextIndex(list: Query): string {
  let next = Object.keys(list).length;
  while (next in list) next++;
  return String(next);
}

function empty(): Query {
  return Object.create(null) as Query;
}
