/**
 * The two headers of Login Security between guard and the connector: the login context of a request, and the report on
 * the password checks in it. The formats are in docs/developer/login-security.md, "Wire additions".
 */
import { z } from 'zod';
import { equalText, signedText } from './signature.js';

export const CONTEXT_HEADER = 'X-Security-Optimizer-Context';
export const LOGIN_HEADER = 'X-Security-Optimizer-Login';

/** Why password checks are refused. */
export type RefuseReason = 'locked' | 'access' | 'away' | 'busy' | 'other-site';

export interface LoginContext {
  /** The connector refuses every password check in this request. */
  readonly login?: 'refuse';
  readonly why?: RefuseReason;
  /** End of the lockout, Unix seconds. Only when `why` is `locked`. */
  readonly until?: number;
  /** The message for the user, without markup. Only when `why` is `locked`. */
  readonly message?: string;
  /** `Authorization: Basic` holds credentials of the web server, not of WordPress. */
  readonly basic?: 'web-server';
  /** How long the connector keeps its records of password checks, seconds, where its default is too short. */
  readonly keep?: number;
  /** The request is signed XML-RPC: only the methods of this plugin are available. */
  readonly xml_rpc?: string;
  /** Path that WordPress must see in `REQUEST_URI`; the query is unchanged. */
  readonly path?: string;
  /** The request was sent to the custom login or sign-up address. */
  readonly page?: 'login' | 'signup';
  /**
   * The request was sent to the custom login address below this folder. It is valid only if the folder is a site of the
   * network.
   */
  readonly folder?: string;
  /** Users who have logged in with this browser before. */
  readonly devices?: readonly number[];
  /** Users for whom this browser is a trusted device. */
  readonly trusted?: readonly number[];
}

/** Longest payload, bytes. Common web servers allow 8 KB for a header line. */
const CONTEXT_MAX = 6000;

/**
 * Value of the context header. The connector accepts it only with a guard header of the same request.
 * @returns null when the header would be too long for common web servers: the request must not be forwarded without it
 */
export function contextHeader(secret: string, requestId: string, context: LoginContext): string | null {
  // JSON does not escape characters above 127, and a target holds raw bytes as latin1. Both are encoded as UTF-8.
  const payload = Buffer.from(JSON.stringify(context)).toString('base64url');
  if (payload.length > CONTEXT_MAX) return null;
  const fields = `1 ${requestId} ${payload}`;
  return `${fields} ${signedText(secret, `guard-context\n${fields}`)}`;
}

const user = z.object({ id: z.number().int().nonnegative(), login: z.string() });
export const reportSchema = z.object({
  failed: z.array(z.object({ user: z.string(), id: z.number().int().nonnegative(), route: z.string() })).max(1000),
  refused: z.number().int().nonnegative(),
  ok: user.extend({ route: z.string() }).nullable(),
  factor: user
    .extend({
      remember: z.boolean(),
      redirect: z.string(),
      interim: z.boolean(),
      stamp: z.string().max(64).default(''),
      /** Path of the site of a network, `/two/`; empty for its main site. */
      site: z.string().max(200).default(''),
      /** Only the session was withheld: the response is the one for a user who has logged in. */
      withheld: z.boolean().default(false),
    })
    .nullable(),
});

/** The results of the password checks in one request. */
export type LoginReport = z.infer<typeof reportSchema>;

/**
 * Reads and verifies the connector's report.
 * @param value the header's value, or `unreadable` when the header was sent more than once
 * @param requestId the request to which the report is bound
 * @returns `unreadable` when the report is invalid
 */
export function readLoginReport(secret: string, value: string, requestId: string): LoginReport | 'unreadable' {
  const cut = value.lastIndexOf(' ');
  const fields = value.slice(0, cut);
  const parts = fields.split(' ');
  const [version, request, payload] = parts;
  if (parts.length !== 3 || version !== '1' || request !== requestId || payload === undefined) return 'unreadable';
  if (!equalText(value.slice(cut + 1), signedText(secret, `connector-login\n${fields}`))) return 'unreadable';
  try {
    return reportSchema.parse(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')));
  } catch {
    return 'unreadable';
  }
}
