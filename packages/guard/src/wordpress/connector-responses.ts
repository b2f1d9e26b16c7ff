import { z } from 'zod';
import { toSessionCookieNames } from '../http/session-cookies.js';
import { toKnownTimeZone } from '../lib/time-zone.js';
import { type NamedFolder, SIGNED_VALUES, type SignedXmlRpc, type SiteFacts } from '../site.js';
import { reportSchema } from './login-headers.js';

/** A URL path as the connector reports it: '' or `/…` without a trailing slash. */
const urlPath = z.string().regex(/^(?:\/[^?#\s]*[^/?#\s])?$/);
const cookieName = z.string().max(200);
/** Limit of names of one kind. The connector reports no more. */
const NAMES_MAX = 200;

/** A list of strings of this form. Others are omitted, so that a plugin's unusual name does not invalidate the rest. */
const arrayOrObject = (form: z.ZodType<string>) =>
  z
    .array(z.unknown())
    .catch([])
    .transform((list) => list.filter((entry): entry is string => form.safeParse(entry).success).slice(0, NAMES_MAX));
const names = arrayOrObject(z.string().min(1).max(200));
const folders = arrayOrObject(urlPath.min(1));

/** Response to `hello`. */
export const helloResponse = z.object({
  connector: z.string().max(40),
  wordpress: z.string().max(40),
  php: z.string().max(40),
  multisite: z.boolean(),
  home: z.url({ protocol: /^https?$/ }),
  site_url: z.url({ protocol: /^https?$/ }),
  /** URL of wp-admin for links. Null from a connector of an older version, which also omits the fields below. */
  admin_url: z
    .url({ protocol: /^https?$/ })
    .nullable()
    .catch(null),
  paths: z.object({
    ...{ admin: urlPath, includes: urlPath, content: urlPath, uploads: urlPath, rest: urlPath },
    mu_plugins: urlPath.optional().catch(undefined),
  }),
  also: z
    .object({ admin: folders, includes: folders, content: folders, uploads: folders })
    .catch({ admin: [], includes: [], content: [], uploads: [] }),
  files: folders,
  cookies: z
    .object({ logged_in: cookieName, auth: z.array(cookieName).max(10) })
    .nullable()
    .catch(null),
  languages: names,
  /** Null also while WordPress has not yet created its rewrite rules. */
  bases: z.object({ text: names, feed: names }).nullable().catch(null),
  /** A hash that changes with any of these names or addresses. */
  names: z.string().max(64).catch(''),
  timezone: z.string().max(100),
  /**
   * A time, Unix seconds, and the offset of the site's clock from UTC at that time, seconds. Null from an older
   * connector.
   */
  clock: z
    .object({
      time: z.number().int().nonnegative(),
      offset: z
        .number()
        .int()
        .min(-14 * 3600)
        .max(14 * 3600),
    })
    .nullable()
    .catch(null),
  locale: z.string().max(40).default('en_US'),
  policy: z.string().nullable(),
  /**
   * Whether the web server reported the address that guard signed. Null where PHP can't know it, and from an older
   * connector.
   */
  address_seen: z.boolean().nullable().catch(null),
  /**
   * Folders of WordPress and of the connector's loader, as PHP sees them. Null from a connector of an older version.
   */
  folders: z
    .object({ wordpress: z.string().max(4096), connector: z.string().max(4096) })
    .nullable()
    .default(null),
  /** Parsed one by one, so that an invalid entry does not invalidate the others; see `readSignedXmlRpc`. */
  signed_xml_rpc: z.array(z.unknown()).max(1000).default([]),
});
export type HelloResponse = z.infer<typeof helloResponse>;

/** The signed-in user, as the connector describes them. */
const user = z.object({
  id: z.number().int().positive(),
  login: z.string(),
  name: z.string(),
  roles: z.array(z.string()),
  can_manage: z.boolean(),
});
export type WordPressUser = z.infer<typeof user>;

/** Response to `session`. */
export const sessionResponse = z.union([
  z.object({ user, locale: z.string() }),
  z.object({ user: z.null(), code: z.string() }),
]);
export type SessionResponse = z.infer<typeof sessionResponse>;

/** Response to `policy`. */
export const policyResponse = z.object({
  policy: z.string(),
  notes: z
    .object({ delete_readme: z.enum(['deleted', 'absent', 'not_deleted']).optional() })
    // PHP writes an empty map as a list.
    .or(z.array(z.never()).transform(() => ({})))
    .default({}),
});

/** Response to `login-data`. */
export const loginDataResponse = z.object({
  users: z.array(z.string()).max(1000),
  matches: z.array(z.object({ ID: z.number().int().positive(), user_login: z.string() })),
  /** Null from a connector of an older version. */
  roles: z
    .array(z.object({ role: z.string(), name: z.string().max(200) }))
    .max(500)
    .nullable()
    .default(null),
  registration: z.boolean(),
  login_url: z.url({ protocol: /^https?$/ }),
  signup_url: z.url({ protocol: /^https?$/ }),
  /** Users who need a second factor while it is on. Null from a connector of an older version. */
  factor_users: z
    .object({
      total: z.number().int(),
      users: z
        .array(
          z.object({
            id: z.number().int().positive(),
            login: z.string(),
            role: z.string(),
            sessions: z.number().int().nonnegative(),
          }),
        )
        .max(500),
    })
    .nullable()
    .default(null),
  /**
   * Number of users who may write on the site, at most one more than the limit for mails. Null from an older connector.
   */
  team: z.number().int().nullable().default(null),
});
export type LoginData = z.infer<typeof loginDataResponse>;

/** Response to `team`. */
export const teamResponse = z.object({
  users: z.array(z.object({ id: z.number().int().positive(), login: z.string(), email: z.string() })).max(500),
});
export type TeamMember = z.infer<typeof teamResponse>['users'][number];

/** Response to `path-in-use`. `by` names what uses the path, for example `a page`. */
export const pathInUseResponse = z.object({ used: z.boolean(), by: z.string().max(200).nullish() });

/** Why a user was not renamed. */
const renameFault = z.enum(['exists', 'not_allowed', 'invalid', 'typed', 'no_match']);
export type RenameFault = z.infer<typeof renameFault>;

/** Response to `rename-users`. */
export const renameResponse = z.object({ renamed: z.number().int() });
/** Refusal of `rename-users`: no user was renamed. Faults are by user ID. */
export const renameRefusal = z.object({ code: z.literal('not_renamed'), fields: z.record(z.string(), renameFault) });

/** Response to `end-sessions`. */
export const endSessionsResponse = z.object({ ended: z.number().int() });
/** Response to `issue-session`. */
export const issueSessionResponse = z.object({ redirect: z.string() });

/** Response to `user`. */
export const userResponse = z.union([
  z.object({ id: z.literal(0) }),
  z.object({
    id: z.number().int().positive(),
    login: z.string(),
    needs_factor: z.boolean(),
    email: z.string().default(''),
    stamp: z.string().max(64).default(''),
  }),
]);

/** A user, parsed from the response to `user`. */
export interface FoundUser {
  readonly id: number;
  readonly login: string;
  readonly needsFactor: boolean;
  readonly email: string;
  /** Changes with the password, and when the user starts or stops to need a second factor. */
  readonly stamp: string;
}

/**
 * Response to `events`. Rows are parsed one by one, so that an invalid row does not invalidate the others; see
 * outbox.ts.
 */
export const eventsResponse = z.object({
  events: z.array(z.unknown()).max(1000),
  more: z.boolean(),
  // Seconds until a row that is held back becomes available. Absent in the response of an older connector.
  held: z.number().nonnegative().default(0),
  /** As in `hello`. Empty in the response of an older connector. */
  names: z.string().max(64).default(''),
});
export type OutboxBatch = z.infer<typeof eventsResponse>;

/** Response to `users-info`. */
export const usersInfoResponse = z.object({
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
  /** Number of users who can manage options and are not blocked. */
  administrators: z.number().int().nonnegative(),
});
export type UsersInfo = z.infer<typeof usersInfoResponse>;

/** Response to `send-mail`, and its refusal. */
export const sendMailResponse = z.object({ sent: z.literal(true) });
export const sendMailRefusal = z.object({ code: z.literal('not_sent'), message: z.string() });

/** Response to `forget`. */
export const forgetResponse = z.object({ forgotten: z.literal(true) });

/**
 * Converts a response to the facts of a site in the form that rules compare: lower-case paths, the REST root relative
 * to home.
 * @param before the previous facts; their bases are kept while WordPress has no rewrite rules
 */
export function toSiteFacts(hello: HelloResponse, before: SiteFacts | null = null): SiteFacts {
  const home = new URL(hello.home).pathname.replace(/\/+$/, '').toLowerCase();
  const { admin, includes, content, uploads, rest } = hello.paths;
  const lowerCaseRest = rest.toLowerCase();
  const lower = (texts: readonly string[]): readonly string[] => texts.map((text) => text.toLowerCase());
  const other = (folder: NamedFolder): readonly string[] => lower(hello.also[folder]);
  const bases =
    hello.bases === null ? before?.paths.bases : { text: lower(hello.bases.text), feed: lower(hello.bases.feed) };
  const also = {
    ...withMembers('admin', other('admin')),
    ...withMembers('includes', other('includes')),
    ...withMembers('content', other('content')),
    ...withMembers('uploads', other('uploads')),
  };
  const { cookies } = hello;
  return {
    homeUrl: hello.home,
    ...(hello.admin_url !== null && { adminUrl: hello.admin_url }),
    ...(cookies !== null && {
      sessionCookies: toSessionCookieNames({ session: cookies.logged_in, others: cookies.auth }),
    }),
    ...(hello.names !== '' && { names: hello.names }),
    timeZone: hello.clock === null ? hello.timezone : toKnownTimeZone(hello.timezone, hello.clock),
    locale: hello.locale,
    multisite: hello.multisite,
    signedXmlRpc: readSignedXmlRpc(hello.signed_xml_rpc).plugins,
    paths: {
      home,
      admin: admin.toLowerCase(),
      includes: includes.toLowerCase(),
      content: content.toLowerCase(),
      uploads: uploads.toLowerCase(),
      rest: home !== '' && lowerCaseRest.startsWith(`${home}/`) ? lowerCaseRest.slice(home.length) : lowerCaseRest,
      ...(hello.paths.mu_plugins !== undefined && { muPlugins: hello.paths.mu_plugins.toLowerCase() }),
      ...withMembers('files', lower(hello.files)),
      ...(Object.keys(also).length > 0 && { also }),
      ...withMembers('languages', lower(hello.languages)),
      ...(bases !== undefined && { bases }),
    },
  };
}

/**
 * An object with the list under this name. Empty for an empty list, so that sites without such names keep the same
 * facts.
 */
function withMembers<Name extends string>(
  name: Name,
  list: readonly string[],
): Partial<Record<Name, readonly string[]>> {
  return list.length === 0 ? {} : ({ [name]: list } as Partial<Record<Name, readonly string[]>>);
}

/** Response to `login-reports`, by request. Null where a check began and did not end. */
export const loginReportsResponse = z.object({ reports: z.record(z.string(), reportSchema.nullable()) });

/** Limit of plugins whose signed requests are allowed. */
const PLUGINS_MAX = 10;
/** Namespaces of WordPress's own methods, lower-case. No plugin may enable them. */
const CORE_METHODS = new Set(['wp.', 'metaweblog.', 'blogger.', 'mt.', 'pingback.', 'demo.', 'system.']);
/** With `rsd`, xmlrpc.php lists its APIs. With `rest_route`, WordPress serves its REST API. */
const NOT_A_PARAMETER = new Set(['rsd', 'rest_route']);
/** A parameter that holds a signature. Without this requirement an anonymous request could match the plugin's form. */
const SIGNATURE = /(?:^|[-_])(?:signature|sig|hmac|mac)$/i;

const parameter = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]{0,39}$/)
  .refine((name) => !NOT_A_PARAMETER.has(name.toLowerCase()));

/** PHP writes an empty map as a list. */
const noneAsList = z.array(z.never()).transform(() => ({}));

/** A plugin as the connector describes it; see docs/developer/connector-protocol.md. */
export const signedXmlRpcSchema = z
  .object({
    id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/),
    name: z.string().min(1).max(80),
    query: z.record(parameter, z.string().regex(/^[\x21-\x7e]{1,100}$/)).or(noneAsList),
    parameters: z.record(parameter, z.enum(Object.keys(SIGNED_VALUES) as [keyof typeof SIGNED_VALUES])),
    methods: z
      .array(
        z
          .string()
          .regex(/^[A-Za-z][A-Za-z0-9_-]{0,39}\.$/)
          .refine((prefix) => !CORE_METHODS.has(prefix.toLowerCase())),
      )
      .min(1)
      .max(5),
  })
  .refine(({ query, parameters }) => {
    const names = Object.keys(parameters);
    if (Object.keys(query).length > 4 || names.length > 10) return false;
    if (names.some((name) => name in query)) return false;
    return names.some((name) => SIGNATURE.test(name) && (parameters[name] === 'hex' || parameters[name] === 'base64'));
  });

/**
 * Reads the plugins in `hello`. Entries that are invalid, or that would enable unsigned XML-RPC, are ignored.
 * @returns the plugins, and the number of ignored entries (`dropped`) for the log
 */
export function readSignedXmlRpc(entries: readonly unknown[]): {
  readonly plugins: readonly SignedXmlRpc[];
  readonly dropped: number;
} {
  const plugins = new Map<string, SignedXmlRpc>();
  for (const entry of entries.slice(0, PLUGINS_MAX)) {
    const read = signedXmlRpcSchema.safeParse(entry);
    if (read.success && !plugins.has(read.data.id)) plugins.set(read.data.id, read.data);
  }
  return { plugins: [...plugins.values()], dropped: entries.length - plugins.size };
}

/** Results of actions that WordPress took when it stored a policy. */
export interface PolicyNotes {
  readonly delete_readme?: 'deleted' | 'absent' | 'not_deleted' | undefined;
}
