import { z } from 'zod';
import type { SiteFacts } from '../site.js';
import { reportSchema } from './login-headers.js';

/** A URL path as the connector reports it: '' or `/…` without a slash at the end. */
const urlPath = z.string().regex(/^(?:\/[^?#\s]*[^/?#\s])?$/);

/** Answer to `hello`. */
export const helloAnswer = z.object({
  connector: z.string().max(40),
  wordpress: z.string().max(40),
  php: z.string().max(40),
  multisite: z.boolean(),
  home: z.url({ protocol: /^https?$/ }),
  site_url: z.url({ protocol: /^https?$/ }),
  paths: z.object({ admin: urlPath, includes: urlPath, content: urlPath, uploads: urlPath, rest: urlPath }),
  timezone: z.string().max(100),
  locale: z.string().max(40).default('en_US'),
  policy: z.string().nullable(),
});
export type HelloAnswer = z.infer<typeof helloAnswer>;

/** A WordPress user as the connector describes the one who asks. */
const user = z.object({
  id: z.number().int().positive(),
  login: z.string(),
  name: z.string(),
  roles: z.array(z.string()),
  can_manage: z.boolean(),
});
export type WordPressUser = z.infer<typeof user>;

/** Answer to `session`. */
export const sessionAnswer = z.union([
  z.object({ user, locale: z.string() }),
  z.object({ user: z.null(), code: z.string() }),
]);
export type SessionAnswer = z.infer<typeof sessionAnswer>;

/** Answer to `policy`. */
export const policyAnswer = z.object({
  policy: z.string(),
  notes: z
    .object({ delete_readme: z.enum(['deleted', 'absent', 'not_deleted']).optional() })
    // PHP writes an empty map as a list.
    .or(z.array(z.never()).transform(() => ({})))
    .default({}),
});

/** Answer to `login-data`. */
export const loginDataAnswer = z.object({
  users: z.array(z.string()).max(1000),
  matches: z.array(z.object({ ID: z.number().int().positive(), user_login: z.string() })),
  registration: z.boolean(),
  login_url: z.url({ protocol: /^https?$/ }),
  signup_url: z.url({ protocol: /^https?$/ }),
});
export type LoginData = z.infer<typeof loginDataAnswer>;

/** Answer to `path-in-use`; `by` says what uses it, for example `a page`. */
export const pathInUseAnswer = z.object({ used: z.boolean(), by: z.string().max(200).nullish() });

/** Why a user was not renamed. */
const renameFault = z.enum(['exists', 'not_allowed', 'invalid', 'typed', 'no_match']);
export type RenameFault = z.infer<typeof renameFault>;

/** Answer to `rename-users`. */
export const renameAnswer = z.object({ renamed: z.number().int() });
/** Its refusal; nobody was renamed. Faults by user ID. */
export const renameRefusal = z.object({ code: z.literal('not_renamed'), fields: z.record(z.string(), renameFault) });

/** Answer to `end-sessions`. */
export const endSessionsAnswer = z.object({ ended: z.number().int() });
/** Answer to `issue-session`. */
export const issueSessionAnswer = z.object({ redirect: z.string() });

/** Answer to `user`. */
export const userAnswer = z.union([
  z.object({ id: z.literal(0) }),
  z.object({
    id: z.number().int().positive(),
    login: z.string(),
    needs_factor: z.boolean(),
    email: z.string().default(''),
    stamp: z.string().max(64).default(''),
  }),
]);

/** A user as guard knows it from that answer. */
export interface FoundUser {
  readonly id: number;
  readonly login: string;
  readonly needsFactor: boolean;
  readonly email: string;
  /** Another one when the password, or whether a second factor is needed, has changed. */
  readonly stamp: string;
}

/** Answer to `events`. Rows are read one by one, so that a broken one spoils no other; see outbox.ts. */
export const eventsAnswer = z.object({ events: z.array(z.unknown()).max(1000), more: z.boolean() });
export type OutboxBatch = z.infer<typeof eventsAnswer>;

/** Answer to `users-info`. */
export const usersInfoAnswer = z.object({
  users: z
    .array(
      z.object({
        id: z.number().int().positive(),
        login: z.string(),
        roles: z.array(z.string()),
        can_manage: z.boolean(),
      }),
    )
    .max(1000),
  /** Users who can manage options and are not blocked. */
  administrators: z.number().int().nonnegative(),
});
export type UsersInfo = z.infer<typeof usersInfoAnswer>;

/** Answer to `send-mail`, and its refusal. */
export const sendMailAnswer = z.object({ sent: z.literal(true) });
export const sendMailRefusal = z.object({ code: z.literal('not_sent'), message: z.string() });

/** Answer to `forget`. */
export const forgetAnswer = z.object({ forgotten: z.literal(true) });

/** The facts that guard keeps, in the form that its rules compare with: lower-case, the REST root below home. */
export function factsOf(hello: HelloAnswer): SiteFacts {
  const home = new URL(hello.home).pathname.replace(/\/+$/, '').toLowerCase();
  const { admin, includes, content, uploads, rest } = hello.paths;
  const lowerRest = rest.toLowerCase();
  return {
    homeUrl: hello.home,
    timeZone: hello.timezone,
    locale: hello.locale,
    multisite: hello.multisite,
    paths: {
      home,
      admin: admin.toLowerCase(),
      includes: includes.toLowerCase(),
      content: content.toLowerCase(),
      uploads: uploads.toLowerCase(),
      rest: home !== '' && lowerRest.startsWith(`${home}/`) ? lowerRest.slice(home.length) : lowerRest,
    },
  };
}

/** Answer to `login-reports`: by request; null where a check began and did not end. */
export const loginReportsAnswer = z.object({ reports: z.record(z.string(), reportSchema.nullable()) });
