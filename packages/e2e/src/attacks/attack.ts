import type { RawResponse } from '../http/raw.js';
import type { TypedRequest } from '../http/request.js';
import { LIMITED_STATUS } from './requests.js';
import type { AttackedSite, Requirement } from './site.js';

/** The targets of attacks, in the order in which the groups run. */
export const groups = [
  'spellings',
  'edge',
  'address',
  'hidden login',
  'product',
  'second factor',
  'legitimate traffic',
  'passwords',
] as const;
export type Group = (typeof groups)[number];

export interface Outcome {
  /** Whether the result is as required; null when a limit hid the actual response. */
  readonly ok: boolean | null;
  /** The actual result in a few words. */
  readonly got: string;
}

export interface Check {
  readonly name: string;
  run(site: AttackedSite): Promise<Outcome>;
}

/** One attack, and a legitimate request of the same shape (its twin) that must still work while the attack fails. */
export interface Attack {
  readonly group: Group;
  readonly name: string;
  readonly expected: string;
  readonly needs?: readonly Requirement[];
  run(site: AttackedSite): Promise<Outcome>;
  readonly twin: Check;
}

type Requested =
  | TypedRequest
  | string
  | ((site: AttackedSite) => TypedRequest | string | Promise<TypedRequest | string>);

/** Sends a request, given as fields or as a target. @returns the response, or null if there was none */
export async function fetchResponse(site: AttackedSite, requested: Requested): Promise<RawResponse | null> {
  const request = typeof requested === 'function' ? await requested(site) : requested;
  try {
    return await site.request(typeof request === 'string' ? { target: request } : request);
  } catch {
    return null;
  }
}

const REFUSALS = new Set([400, 403, 404, 405, 408, 413, 414, 417, 421, 431, 501, 505]);

/** A response that a limit hid counts neither as held nor as failed. */
export const limited: Outcome = { ok: null, got: `limited, not judged: ${LIMITED_STATUS}` };

/** Holds if guard or WordPress refuses or does not answer, and the response shows no sign of success. */
export function refused(requested: Requested, sign?: RegExp) {
  return async (site: AttackedSite): Promise<Outcome> => {
    const response = await fetchResponse(site, requested);
    if (response === null) return { ok: true, got: 'no answer' };
    const found = sign?.exec(response.body)?.[0];
    if (found !== undefined) return { ok: false, got: `${response.status} with ${JSON.stringify(found)}` };
    if (response.status === LIMITED_STATUS) return limited;
    return { ok: REFUSALS.has(response.status), got: String(response.status) };
  };
}

/** Holds if the response, whatever its status, does not match the sign, unless a limit hid the actual response. */
export function silentAbout(requested: Requested, sign: RegExp | ((site: AttackedSite) => RegExp)) {
  return async (site: AttackedSite): Promise<Outcome> => {
    const response = await fetchResponse(site, requested);
    const found = (sign instanceof RegExp ? sign : sign(site)).exec(
      response === null ? '' : response.head + response.body,
    )?.[0];
    const status = response === null ? 'no answer' : String(response.status);
    if (found !== undefined) return { ok: false, got: `${status} with ${JSON.stringify(found)}` };
    return response?.status === LIMITED_STATUS ? limited : { ok: true, got: status };
  };
}

/** Statuses of a successful response. Redirects are included: a front page may redirect to that of a language. */
export const SERVED: readonly number[] = [200, 204, 206, 301, 302, 303, 307, 308];

/** Checks that a request is answered with one of the statuses, and with the content if one is given. */
export function answered(
  name: string,
  requested: Requested,
  { statuses = SERVED, content }: { readonly statuses?: readonly number[]; readonly content?: RegExp } = {},
): Check {
  return {
    name,
    async run(site) {
      const response = await fetchResponse(site, requested);
      if (response === null) return { ok: false, got: 'no answer' };
      const fits = statuses.includes(response.status);
      const matches = content === undefined || content.test(response.head + response.body);
      return {
        ok: fits && matches,
        got: fits && !matches ? `${response.status} without ${content}` : String(response.status),
      };
    },
  };
}

/** The front page, which must stay available. */
export const frontPage = answered('the front page', '/');
