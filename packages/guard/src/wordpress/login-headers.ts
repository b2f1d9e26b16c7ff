/**
 * The two headers of Login Security between guard and the connector: what WordPress must know of a request, and what
 * came of the passwords in it. Formats: docs/login-security.md, "Wire additions".
 */
import { z } from 'zod';
import { equalText, signedText } from './signature.js';

export const CONTEXT_HEADER = 'X-Security-Optimizer-Context';
export const LOGIN_HEADER = 'X-Security-Optimizer-Login';

/** Why no password may be checked. */
export type RefuseReason = 'locked' | 'access' | 'away' | 'busy' | 'other-site';

export interface LoginContext {
  /** Every password check in this request is to be refused unchecked. */
  readonly login?: 'refuse';
  readonly why?: RefuseReason;
  /** Path that WordPress must see in `REQUEST_URI`, with the query that it gets anyway. */
  readonly path?: string;
  /** The request came by the custom address. */
  readonly door?: 'login' | 'signup';
  /** Users to whom this device logged in before. */
  readonly devices?: readonly number[];
  /** Users whose second factor this device need not give again. */
  readonly trusted?: readonly number[];
}

/** Longest payload, bytes. Usual web servers take 8 KB for a line of the head. */
export const CONTEXT_MAX = 6000;

/**
 * Value of the context header. The connector takes it only beside a guard header of the same request.
 * @returns null when it would be too long to be sure to arrive: such a request must not go on without it
 */
export function contextHeader(secret: string, requestId: string, context: LoginContext): string | null {
  // JSON escapes nothing above 127, and a target holds raw bytes as latin1: both travel as UTF-8.
  const payload = Buffer.from(JSON.stringify(context)).toString('base64url');
  if (payload.length > CONTEXT_MAX) return null;
  const fields = `1 ${requestId} ${payload}`;
  return `${fields} ${signedText(secret, `guard-context\n${fields}`)}`;
}

const user = z.object({ id: z.number().int().nonnegative(), login: z.string() });
const road = z.string();

export const reportSchema = z.object({
  failed: z.array(z.object({ user: z.string(), id: z.number().int().nonnegative(), road })).max(1000),
  refused: z.number().int().nonnegative(),
  ok: user.extend({ road }).nullable(),
  factor: user
    .extend({
      remember: z.boolean(),
      redirect: z.string(),
      interim: z.boolean(),
      stamp: z.string().max(64).default(''),
    })
    .nullable(),
});

/** What came of the passwords in one request. */
export type LoginReport = z.infer<typeof reportSchema>;

/**
 * Reads and verifies the connector's report.
 * @param value the header's value; `unreadable` when it was sent more than once
 * @param requestId binds the report to the request it answers
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
