import { z } from 'zod';
import { activityOptionsSchema, blockedList, filterOption, registeredList, unknownList } from './activity.js';
import { sentFilters } from './activity-filters.js';
import { LOG_LIFETIMES, type LogLifetime } from './activity-limits.js';
import { endpoint } from './endpoint.js';
import { flag } from './login.js';
import { messages } from './messages.js';
import { toggleValue } from './settings.js';

const page = z.coerce
  .number({ error: 'Use a page number from 1.' })
  .int('Use a page number from 1.')
  .min(1, 'Use a page number from 1.')
  .max(1_000_000, 'Use a page number from 1.');

const listRequest = z.object({
  limitedView: toggleValue.nullish(),
  page: page.nullish(),
  /**
   * A child's `selectedValue` goes before its `value`; empty text means no choice. The To of `date` means the whole of
   * its day.
   */
  filters: sentFilters,
  /** Our own: goes on exactly where the answer with this cursor ended. */
  cursor: z.string().max(200).nullish(),
  /** Our own: 1 = the To of `date` is a moment (outside), not a day. For a bar of one hour. */
  exact: toggleValue.nullish(),
});

const visitorId = z.object({
  id: z.coerce.number({ error: messages.invalidFormat }).int(messages.invalidFormat).nonnegative(),
});

function list<const Name extends string, Response extends z.ZodType>(
  name: Name,
  suffix: string,
  summary: string,
  response: Response,
) {
  return endpoint({ name, suffix, methods: ['POST', 'GET'], summary, request: listRequest, response });
}

export const activityUnknown = list(
  'activityUnknown',
  '/activity-unknown',
  'What visitors without a session asked for, newest first. Filters: date, type, code, ip.',
  unknownList,
);
export const registeredActivity = list(
  'registeredActivity',
  '/activity-registered',
  'What registered users did, newest first. Filters: date, user, activity.',
  registeredList,
);
export const blockedUsers = list(
  'blockedUsers',
  '/blocked-users',
  'Who is blocked now: addresses, users, and addresses locked by failed log-ins.',
  blockedList,
);

const activityListName = z.enum(['unknown', 'registered'], { error: 'Use unknown or registered.' });

export const searchActivityFilter = endpoint({
  name: 'searchActivityFilter',
  suffix: '/activity-options',
  methods: ['POST', 'GET'],
  summary: 'Choices of one filter that hold the searched text, most frequent first, at most 200.',
  request: z.object({ list: activityListName, filter: z.string(), search: z.string().max(200).default('') }),
  response: z.object({ options: z.array(filterOption) }),
});

export const activityNews = endpoint({
  name: 'activityNews',
  suffix: '/activity-new',
  methods: ['POST', 'GET'],
  summary: 'How many rows a list has gained since the row with the id `since`; counts to 1,000.',
  request: z.object({
    list: activityListName,
    since: z.coerce.number({ error: messages.invalidFormat }).int(messages.invalidFormat).nonnegative(),
    filters: sentFilters,
    exact: toggleValue.nullish(),
  }),
  response: z.object({ count: z.number().int() }),
});

/** Unix seconds. */
const seconds = z.coerce.number({ error: messages.invalidFormat }).int(messages.invalidFormat).nonnegative();

const bar = z.object({
  /** Unix seconds of the bar's beginning; it lasts to that of the next. */
  from: z.number().int(),
  to: z.number().int(),
  humans: z.number().int(),
  bots: z.number().int(),
  blocked: z.number().int(),
});

export const activityTraffic = endpoint({
  name: 'activityTraffic',
  suffix: '/activity-traffic',
  methods: ['POST', 'GET'],
  summary:
    'Visits per day (or per hour, when the period is at most two days) in the time zone of the site; the kept days by ' +
    'default. Hours are counted in UTC: where the clock differs by half an hour, an hour counts to the day it begins in.',
  request: z.object({ from: seconds.nullish(), to: seconds.nullish() }),
  response: z.object({
    bars: z.array(bar),
    step: z.enum(['day', 'hour']),
    humans: z.number().int(),
    bots: z.number().int(),
    blocked: z.number().int(),
  }),
});

export const visitorStatus = endpoint({
  name: 'visitorStatus',
  suffix: '/get-visitor-status/{id}',
  methods: ['POST', 'GET'],
  summary: 'Whether a visitor is blocked.',
  request: visitorId,
  response: z.object({
    block: flag,
    type: z.enum(['ip', 'user']),
    /** The address, network or login. */
    name: z.string(),
    /** The /64 that is blocked with an IPv6 address; empty when the visitor is blocked by itself. */
    network: z.string(),
    hostname: z.string(),
    do_not_block: flag,
    /** Why it must not be blocked, in words; empty when it may. */
    reason: z.string(),
    /** Visits of the last 24 hours, for an address. */
    visits_today: z.number().int().nullable(),
    /** Visits of each of the last 12 hours, oldest first, for an address. */
    visits_hours: z.array(z.number().int()).nullable(),
    first_seen: z.number().int().nullable(),
    last_seen: z.number().int().nullable(),
    /** Roles of a user. */
    roles: z.array(z.string()).nullable(),
  }),
});

const blockRequest = visitorId.extend({ block: toggleValue });

export const blockIp = endpoint({
  name: 'blockIp',
  suffix: '/block-ip/{id}',
  methods: ['POST'],
  summary:
    'Block (1) or unblock (0) the address of a visitor: of an IPv6 address its /64, or with `single` 1 the address alone.',
  request: blockRequest.extend({ single: toggleValue.optional() }),
  response: z.object({ block: flag }),
});

export const blockUser = endpoint({
  name: 'blockUser',
  suffix: '/block-user/{id}',
  methods: ['POST'],
  summary: 'Block (1) or unblock (0) a user: sessions end, log-ins and requests with a session are refused.',
  request: blockRequest,
  response: z.object({ block: flag }),
});

export const blockAddresses = endpoint({
  name: 'blockAddresses',
  suffix: '/block-addresses',
  methods: ['POST'],
  summary:
    'Block an address (IPv6 with its /64, or alone with `/128` behind it), a CIDR range, a wildcard or a range with a hyphen by its text.',
  request: z.object({ address: z.string({ error: messages.invalidFormat }).trim().min(1, messages.required) }),
  response: z.object({ visitor_id: z.number().int(), block: flag }),
});

export const loginUnblock = endpoint({
  name: 'loginUnblock',
  suffix: '/login-unblock',
  methods: ['POST'],
  summary: 'End the lock of an address that failed to log in too often.',
  request: z.object({
    ip: z.string({ error: messages.required }).min(1, messages.required),
    block: z.literal([0, '0', false], { error: 'Use 0.' }).optional(),
  }),
  response: z.object({ block: flag }),
});

export const manageActivityLog = endpoint({
  name: 'update:disable_activity_log',
  suffix: '/manage-activity-log',
  methods: ['POST'],
  summary: 'Switch the log off (1) or on (0).',
  request: z.object({ disable_activity_log: toggleValue }),
  response: z.object({ disable_activity_log: flag }),
});

const days = z
  .union([z.literal([...LOG_LIFETIMES]), z.literal(LOG_LIFETIMES.map(String))], { error: 'Use 1 to 12 days.' })
  .transform((value) => Number(value) as LogLifetime);

export const activityLogLifetime = endpoint({
  name: 'update:log_lifetime',
  suffix: '/activity-log-lifetime',
  methods: ['POST'],
  summary: 'Keep the log for 1 to 12 days. With fewer than 8 no weekly report is sent.',
  request: z.object({ log_lifetime: days }),
  response: activityOptionsSchema.pick({ log_lifetime: true }),
});

export const anonymizeAddresses = endpoint({
  name: 'update:anonymize_addresses',
  suffix: '/anonymize-addresses',
  methods: ['POST'],
  summary: 'Store addresses without their last octet (IPv4) or last 80 bits (IPv6) from now on (1), or whole (0).',
  request: z.object({ anonymize_addresses: toggleValue }),
  response: z.object({ anonymize_addresses: flag }),
});

const recipients = z.object({
  entries: z.array(z.object({ id: z.number().int(), email: z.string() })),
  max_emails: z.number().int(),
});

export const weeklyReport = endpoint({
  name: 'weeklyReport',
  suffix: '/weekly-report',
  methods: ['POST', 'GET'],
  summary: 'Who gets the weekly report.',
  request: z.object({}),
  response: recipients,
});

const email = z.union([z.string(), z.object({ email: z.string() }).transform((entry) => entry.email)], {
  error: messages.invalidEmail,
});
export const notificationEmails = endpoint({
  name: 'update:notification_emails',
  suffix: '/notification-emails',
  methods: ['POST'],
  summary:
    'The whole new list of recipients: addresses or objects with `email`. In `fields` of a refusal, names are positions ' +
    'in the list, from 0.',
  request: z.object({
    entries: z.union(
      [z.array(email), z.record(z.string().regex(/^\d+$/), email).transform((all) => Object.values(all))],
      {
        error: 'Send a list of e-mail addresses.',
      },
    ),
  }),
  listField: 'entries',
  response: recipients,
});

export const previewWeeklyReport = endpoint({
  name: 'previewWeeklyReport',
  suffix: '/weekly-report-preview',
  methods: ['POST', 'GET'],
  summary: 'The report as it would be sent now: subject, HTML and plain text.',
  request: z.object({}),
  response: z.object({ subject: z.string(), html: z.string(), text: z.string() }),
});

export const testWeeklyReport = endpoint({
  name: 'testWeeklyReport',
  suffix: '/weekly-report-test',
  methods: ['POST'],
  summary: 'Send the report as it would be now to the e-mail address of the caller.',
  request: z.object({}),
  response: z.object({ email: z.string() }),
});

/** The calls of the page Activity Log but those of its tab Weekly Reports. */
export const activityEndpoints = [
  activityUnknown,
  registeredActivity,
  blockedUsers,
  searchActivityFilter,
  activityNews,
  activityTraffic,
  visitorStatus,
  blockIp,
  blockUser,
  blockAddresses,
  loginUnblock,
  manageActivityLog,
  activityLogLifetime,
  anonymizeAddresses,
] as const;

/** The calls of the tab Weekly Reports. */
export const weeklyReportEndpoints = [weeklyReport, notificationEmails, previewWeeklyReport, testWeeklyReport] as const;
