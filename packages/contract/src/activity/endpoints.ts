import * as z from 'zod/mini';
import { endpoint } from '../endpoint.js';
import { messages } from '../messages.js';
import { choiceValue, settingEndpoints } from '../settings/endpoints.js';
import { flag, integerBetween, toggleValue } from '../shapes.js';
import { toPlainAddress } from '../typed-text.js';
import { activityAttackers, activityRequest } from './attackers.js';
import { blockDurations, currentBlock, MAX_NOTE } from './blocks.js';
import { sentFilters } from './filters.js';
import { LOG_LIFETIMES } from './limits.js';
import {
  blockedList,
  filterOption,
  lifetimePreviewSchema,
  recipientsSchema,
  registeredList,
  trafficSchema,
  unknownList,
  visitorStatusSchema,
  visitPresets,
} from './schemas.js';

const page = integerBetween(1, 1_000_000, 'Use a page number from 1.');

const listRequest = z.object({
  limitedView: z.nullish(toggleValue),
  page: z.nullish(page),
  /**
   * A child's `selectedValue` takes precedence over its `value`; an empty text means no choice. The To of `date`
   * includes the whole day.
   */
  filters: sentFilters,
  /** Extension: the list continues after the response that contained this cursor. */
  cursor: z.nullish(z.string().check(z.maxLength(200))),
  /** Extension, unknown visitors: one of `visitPresets`. */
  preset: z.nullish(z.enum(visitPresets, { error: `Use ${visitPresets.join(', ')}.` })),
  /** Extension, both activity lists: an address or network, part of a path, a login, or a reference (`001N-GDMM`). */
  search: z.nullish(z.string({ error: messages.invalidFormat }).check(z.trim(), z.maxLength(200))),
  /** Extension: 1 = the To of `date` is an exact, exclusive time instead of a day. It selects a bar of one hour. */
  exact: z.nullish(toggleValue),
});

const visitorId = z.object({
  id: integerBetween(0, Number.MAX_SAFE_INTEGER, messages.invalidFormat),
});

function list<const Name extends string, Response extends z.ZodMiniType>(
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
  'Requests of visitors without a session, newest first. Filters: date, type, code, ip, goal (one of `attackGoals`).',
  unknownList,
);
export const registeredActivity = list(
  'registeredActivity',
  '/activity-registered',
  'Activity of registered users, newest first. Filters: date, user, activity.',
  registeredList,
);
export const blockedUsers = list(
  'blockedUsers',
  '/blocked-users',
  'Who is blocked now: addresses, users, and addresses locked by failed logins.',
  blockedList,
);

const activityListName = z.enum(['unknown', 'registered'], { error: 'Use unknown or registered.' });

export const searchActivityFilter = endpoint({
  name: 'searchActivityFilter',
  suffix: '/activity-options',
  methods: ['POST', 'GET'],
  summary: 'Choices of a filter that contain the searched text, most frequent first, at most 200.',
  request: z.object({
    list: activityListName,
    filter: z.string(),
    search: z._default(z.string().check(z.maxLength(200)), ''),
  }),
  response: z.object({ options: z.array(filterOption) }),
});

export const activityNews = endpoint({
  name: 'activityNews',
  suffix: '/activity-new',
  methods: ['POST', 'GET'],
  summary: 'Number of rows that were added to a list since the row with the id `since`, up to 1,000.',
  request: z.object({
    list: activityListName,
    since: integerBetween(0, Number.MAX_SAFE_INTEGER, messages.invalidFormat),
    filters: sentFilters,
    preset: listRequest.shape.preset,
    search: listRequest.shape.search,
    exact: z.nullish(toggleValue),
  }),
  response: z.object({ count: z.int() }),
});

/** Unix seconds. */
const seconds = integerBetween(0, Number.MAX_SAFE_INTEGER, messages.invalidFormat);

export const activityTraffic = endpoint({
  name: 'activityTraffic',
  suffix: '/activity-traffic',
  methods: ['POST', 'GET'],
  summary:
    'Visits per day (per hour for a period of at most two days) in the time zone of the site. Default: the whole ' +
    'retention. Hours are counted in UTC: in a time zone with an offset of half an hour, an hour counts for the ' +
    'day in which it begins.',
  request: z.object({ from: z.nullish(seconds), to: z.nullish(seconds) }),
  response: trafficSchema,
});

export const visitorStatus = endpoint({
  name: 'visitorStatus',
  suffix: '/get-visitor-status/{id}',
  methods: ['POST', 'GET'],
  summary: 'The state of a visitor: blocks, and whether blocking is allowed.',
  request: visitorId,
  response: visitorStatusSchema,
});

const durationError = 'Use 3600, 86400, 604800 or 0 seconds.';

/**
 * Optional fields of a request to block. A new block replaces the current one, including its duration and note.
 */
const blockTerms = {
  /** Seconds, one of `blockDurations`. Default: no end. */
  duration: z.nullish(
    z.union([z.literal(blockDurations), z.pipe(z.literal(['3600', '86400', '604800', '0']), z.transform(Number))], {
      error: durationError,
    }),
  ),
  note: z.nullish(
    z
      .string({ error: messages.invalidFormat })
      .check(z.trim(), z.maxLength(MAX_NOTE, `Use at most ${MAX_NOTE} characters.`)),
  ),
};

/** Whether to block the network of the address: /24 of IPv4, /64 of IPv6. */
const networkChoice = z.nullish(toggleValue);

const blockRequest = z.extend(visitorId, { block: toggleValue, ...blockTerms });
/** The state after the request: `current` is the block with its end. */
const blockResponse = z.object({ block: flag, current: z.nullable(currentBlock) });

export const blockIp = endpoint({
  name: 'blockIp',
  suffix: '/block-ip/{id}',
  methods: ['POST'],
  summary:
    'Block (1) or unblock (0) the address of a visitor. For an IPv6 address its /64 is blocked, or with `single` ' +
    '1 the address alone; with `network` 1 the network of an address (/24 of IPv4). A block may have a `duration` ' +
    'and a `note`. It extends a lockout after failed logins.',
  request: z.extend(blockRequest, { single: z.optional(toggleValue), network: networkChoice }),
  response: blockResponse,
});

export const blockUser = endpoint({
  name: 'blockUser',
  suffix: '/block-user/{id}',
  methods: ['POST'],
  summary:
    'Block (1) or unblock (0) a user. The sessions of a blocked user end; logins, and requests with a session, ' +
    'are refused.',
  request: blockRequest,
  response: blockResponse,
});

export const blockAddresses = endpoint({
  name: 'blockAddresses',
  suffix: '/block-addresses',
  methods: ['POST'],
  summary:
    'Block an address (IPv6 with its /64, or with `/128` alone), a CIDR range, a wildcard or a range with a ' +
    'hyphen. The text may contain several of them: all are blocked or none. `visitor_id` and `current` are those ' +
    'of the first. A range of nearly all clients is refused unless `confirm` is true.',
  request: z.object({
    address: z
      .string({ error: messages.invalidFormat })
      .check(z.overwrite(toPlainAddress), z.minLength(1, messages.required)),
    confirm: z.optional(toggleValue),
    ...blockTerms,
  }),
  response: z.object({ visitor_id: z.int(), block: flag, current: z.nullable(currentBlock) }),
});

/** Maximum number of visitors in one request to block. */
export const MAX_BLOCKED_AT_ONCE = 100;

export const blockVisitors = endpoint({
  name: 'blockVisitors',
  suffix: '/block-visitors',
  methods: ['POST'],
  summary:
    'Block (1) or unblock (0) the addresses of up to 100 visitors. The response lists the visitors that were ' +
    'refused, with the reason; the others are blocked.',
  request: z.object({
    ids: z
      .array(visitorId.shape.id, { error: 'Send a list of visitors.' })
      .check(z.minLength(1, messages.required), z.maxLength(MAX_BLOCKED_AT_ONCE, 'Send at most 100 visitors.')),
    block: toggleValue,
    ...blockTerms,
  }),
  response: z.object({
    done: z.array(z.object({ visitor_id: z.int(), block: flag, current: z.nullable(currentBlock) })),
    refused: z.array(z.object({ visitor_id: z.int(), reason: z.string() })),
  }),
});

export const loginUnblock = endpoint({
  name: 'loginUnblock',
  suffix: '/login-unblock',
  methods: ['POST'],
  summary: 'End the lockout of an address after failed logins.',
  request: z.object({
    ip: z.string({ error: messages.required }).check(z.minLength(1, messages.required)),
    block: z.optional(z.literal([0, '0', false], { error: 'Use 0.' })),
  }),
  response: z.object({ block: flag }),
});

export const weeklyReport = endpoint({
  name: 'weeklyReport',
  suffix: '/weekly-report',
  methods: ['POST', 'GET'],
  summary: 'The recipients of the weekly report.',
  request: z.object({}),
  response: recipientsSchema,
});

const emailObject = z.pipe(
  z.object({ email: z.string() }),
  z.transform((entry) => entry.email),
);
const email = z.union([z.string(), emailObject], { error: messages.invalidEmail });
const emailsByNumber = z.pipe(
  z.record(z.string().check(z.regex(/^\d+$/)), email),
  z.transform((all) => Object.values(all)),
);
export const notificationEmails = endpoint({
  name: 'update:notification_emails',
  suffix: '/notification-emails',
  methods: ['POST'],
  summary:
    'Replace the list of recipients: addresses, or objects with `email`. The names in `fields` of an error are ' +
    'positions in the list, from 0.',
  request: z.object({
    entries: z.union([z.array(email), emailsByNumber], { error: 'Send a list of e-mail addresses.' }),
  }),
  listField: 'entries',
  response: recipientsSchema,
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
  summary: 'Send the report as it would be sent now to the e-mail address of the caller.',
  request: z.object({}),
  response: z.object({ email: z.string() }),
});

export const logLifetimePreview = endpoint({
  name: 'logLifetimePreview',
  suffix: '/activity-log-lifetime-preview',
  methods: ['POST', 'GET'],
  summary:
    'Number of entries that a retention of so many days deletes: visits, and events of users (counted up to a ' +
    'limit; `exact` is 0 if there are more). They are deleted a minute after the change, so it can be undone ' +
    'until then.',
  request: z.object({ log_lifetime: choiceValue(LOG_LIFETIMES, 'Use 1 to 12 days.') }),
  response: lifetimePreviewSchema,
});

/** Endpoints of the page Activity Log, except its tab Weekly Reports. */
export const activityEndpoints = [
  activityUnknown,
  registeredActivity,
  blockedUsers,
  searchActivityFilter,
  activityNews,
  activityTraffic,
  activityAttackers,
  activityRequest,
  visitorStatus,
  blockIp,
  blockUser,
  blockAddresses,
  blockVisitors,
  loginUnblock,
  logLifetimePreview,
  ...settingEndpoints('log'),
] as const;

/** Endpoints of the tab Weekly Reports. */
export const weeklyReportEndpoints = [weeklyReport, notificationEmails, previewWeeklyReport, testWeeklyReport] as const;
