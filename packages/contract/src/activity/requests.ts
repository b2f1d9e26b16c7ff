import * as z from 'zod/mini';
import { messages } from '../messages.js';
import { choiceValue, integerBetween, noInput, type RequestsOf } from '../request.js';
import type { SettingCalls } from '../settings/endpoints.js';
import { toggleValue } from '../shapes.js';
import { toPlainAddress } from '../typed-text.js';
import { blockDurations, MAX_BLOCKED_AT_ONCE, MAX_NOTE } from './blocks.js';
import type { activityEndpoints, downloads, weeklyReportEndpoints } from './endpoints.js';
import { LOG_LIFETIMES } from './limits.js';
import { logDropdowns } from './log-address.js';
import { visitPresets } from './schemas.js';

/** A list with gaps, as PHP encodes it: an object with numeric keys. */
function filterValues<Item extends z.ZodMiniType>(item: Item) {
  return z.pipe(
    z.record(z.string(), item),
    z.transform((items) => Object.values(items)),
  );
}

/** Filters in the server's format: a list, or an object with numeric keys. Other fields are ignored. */
const sentChild = z.looseObject({
  id: z.nullish(z.string()),
  value: z.optional(z.unknown()),
  selectedValue: z.optional(z.unknown()),
});
const sentFilter = z.looseObject({
  wp_name: z.string(),
  children: z.nullish(z.union([z.array(sentChild), filterValues(sentChild)])),
});
const filterList = z.union([z.array(sentFilter), filterValues(sentFilter)], {
  error: 'Send the filters of the last answer.',
});
/** In a query (GET) the filters are JSON text. */
const filterText = z.pipe(
  z.string(),
  z.transform((text, context): unknown => {
    try {
      return text === '' ? [] : JSON.parse(text);
    } catch {
      context.issues.push({ code: 'custom', message: 'Send the filters of the last answer as JSON.', input: text });
      return z.NEVER;
    }
  }),
);
export const sentFilters = z.nullish(
  z.union([z.pipe(filterText, filterList), filterList], { error: 'Send the filters of the last answer.' }),
);
export type SentFilters = z.output<typeof sentFilters>;

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

/** Id of a row or a visitor, or Unix seconds. */
const wholeNumber = integerBetween(0, Number.MAX_SAFE_INTEGER, messages.invalidFormat);
const idRequest = z.object({ id: wholeNumber });

const activityListName = z.enum(['unknown', 'registered'], { error: 'Use unknown or registered.' });

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

const blockRequest = z.extend(idRequest, { block: toggleValue, ...blockTerms });

export const activityRequests = {
  activityUnknown: {
    summary: `Requests of visitors without a session, newest first. Filters: date, ${logDropdowns.unknown.join(', ')}, goal (one of \`attackGoals\`).`,
    schema: listRequest,
  },
  registeredActivity: {
    summary: `Activity of registered users, newest first. Filters: date, ${logDropdowns.registered.join(', ')}.`,
    schema: listRequest,
  },
  blockedUsers: {
    summary: 'Who is blocked now: addresses, users, and addresses locked by failed logins.',
    schema: listRequest,
  },
  searchActivityFilter: {
    summary: 'Choices of a filter that contain the searched text, most frequent first, at most 200.',
    schema: z.object({
      list: activityListName,
      filter: z.string(),
      search: z._default(z.string().check(z.maxLength(200)), ''),
    }),
  },
  activityNews: {
    summary: 'Number of rows that were added to a list since the row with the id `since`, up to 1,000.',
    schema: z.object({
      list: activityListName,
      since: wholeNumber,
      filters: sentFilters,
      preset: listRequest.shape.preset,
      search: listRequest.shape.search,
      exact: z.nullish(toggleValue),
    }),
  },
  activityTraffic: {
    summary:
      'Visits per day (per hour for a period of at most two days) in the time zone of the site. Default: the whole ' +
      'retention. Hours are counted in UTC: in a time zone with an offset of half an hour, an hour counts for the ' +
      'day in which it begins.',
    schema: z.object({ from: z.nullish(wholeNumber), to: z.nullish(wholeNumber) }),
  },
  activityAttackers: {
    summary:
      'The attackers of the last seven days: addresses and networks with their goal, the most attacked paths, and ' +
      'the goals. 5 rows, or up to 100 with `all` 1.',
    schema: z.object({ all: z.nullish(toggleValue) }),
  },
  activityRequest: {
    summary: 'All details of a row in the list of unknown visitors.',
    schema: idRequest,
  },
  visitorStatus: {
    summary: 'The state of a visitor: blocks, and whether blocking is allowed.',
    schema: idRequest,
  },
  blockIp: {
    summary:
      'Block (1) or unblock (0) the address of a visitor. For an IPv6 address its /64 is blocked, or with `single` ' +
      '1 the address alone; with `network` 1 the network of an address (/24 of IPv4). A block may have a `duration` ' +
      'and a `note`. It extends a lockout after failed logins.',
    schema: z.extend(blockRequest, { single: z.optional(toggleValue), network: networkChoice }),
  },
  blockUser: {
    summary:
      'Block (1) or unblock (0) a user. The sessions of a blocked user end; logins, and requests with a session, ' +
      'are refused.',
    schema: blockRequest,
  },
  blockAddresses: {
    summary:
      'Block an address (IPv6 with its /64, or with `/128` alone), a CIDR range, a wildcard or a range with a ' +
      'hyphen. The text may contain several of them: all are blocked or none. `visitor_id` and `current` are those ' +
      'of the first. A range of nearly all clients is refused unless `confirm` is true.',
    schema: z.object({
      address: z
        .string({ error: messages.invalidFormat })
        .check(z.overwrite(toPlainAddress), z.minLength(1, messages.required)),
      confirm: z.optional(toggleValue),
      ...blockTerms,
    }),
  },
  blockVisitors: {
    summary:
      'Block (1) or unblock (0) the addresses of up to 100 visitors. The response lists the visitors that were ' +
      'refused, with the reason; the others are blocked.',
    schema: z.object({
      ids: z
        .array(wholeNumber, { error: 'Send a list of visitors.' })
        .check(z.minLength(1, messages.required), z.maxLength(MAX_BLOCKED_AT_ONCE, 'Send at most 100 visitors.')),
      block: toggleValue,
      ...blockTerms,
    }),
  },
  loginUnblock: {
    summary: 'End the lockout of an address after failed logins.',
    schema: z.object({
      ip: z.string({ error: messages.required }).check(z.minLength(1, messages.required)),
      block: z.optional(z.literal([0, '0', false], { error: 'Use 0.' })),
    }),
  },
  logLifetimePreview: {
    summary:
      'Number of entries that a retention of so many days deletes: visits, and events of users (counted up to a ' +
      'limit; `exact` is 0 if there are more). They are deleted a minute after the change, so it can be undone ' +
      'until then.',
    schema: z.object({ log_lifetime: choiceValue(LOG_LIFETIMES, 'Use 1 to 12 days.') }),
  },
} satisfies RequestsOf<Exclude<(typeof activityEndpoints)[number], SettingCalls>>;

const emailObject = z.pipe(
  z.object({ email: z.string() }),
  z.transform((entry) => entry.email),
);
const email = z.union([z.string(), emailObject], { error: messages.invalidEmail });
const emailsByNumber = z.pipe(
  z.record(z.string().check(z.regex(/^\d+$/)), email),
  z.transform((all) => Object.values(all)),
);

export const weeklyReportRequests = {
  weeklyReport: { summary: 'The recipients of the weekly report.', schema: noInput },
  'update:notification_emails': {
    summary:
      'Replace the list of recipients: addresses, or objects with `email`. The names in `fields` of an error are ' +
      'positions in the list, from 0.',
    schema: z.object({
      entries: z.union([z.array(email), emailsByNumber], { error: 'Send a list of e-mail addresses.' }),
    }),
    listField: 'entries',
  },
  previewWeeklyReport: {
    summary: 'The report as it would be sent now: subject, HTML and plain text.',
    schema: noInput,
  },
  testWeeklyReport: {
    summary: 'Send the report as it would be sent now to the e-mail address of the caller.',
    schema: noInput,
  },
} satisfies RequestsOf<(typeof weeklyReportEndpoints)[number]>;

const text = z.string().check(z.maxLength(200, messages.invalidFormat));

/** The requests of the endpoints that respond with a file. `content` describes the file for the API reference. */
export const downloadRequests = {
  activityExport: {
    summary:
      'Every row of a list that matches the filters, newest first. Filters are plain query parameters, so that a ' +
      'link can contain them. A link also needs the nonce as `_wpnonce`.',
    schema: z.object({
      list: activityListName,
      format: z._default(z.enum(['csv', 'json'], { error: 'Use csv or json.' }), 'csv'),
      /** Unix seconds. */
      from: z.optional(text),
      /** Unix seconds; the whole day is included unless `exact` is 1. */
      to: z.optional(text),
      exact: z.optional(toggleValue),
      /** For `unknown`. */
      type: z.optional(text),
      code: z.optional(text),
      ip: z.optional(text),
      /** One of `visitPresets`, and one of `attackGoals`. */
      preset: z.optional(z.enum(visitPresets, { error: `Use ${visitPresets.join(', ')}.` })),
      goal: z.optional(text),
      /** For both lists: as in a list request. */
      search: z.optional(text),
      /** For `registered`: the visitor id of the user, and the id of the kind. */
      user: z.optional(text),
      activity: z.optional(text),
    }),
    content:
      '`text/csv` (RFC 4180, UTF-8 with a byte order mark and a header row) or `application/json` (a list of objects), ' +
      'as an attachment without the envelope. In CSV a cell that a spreadsheet would interpret as a formula begins ' +
      'with an apostrophe, and control characters are written as `\\u000a`. The file is streamed. If reading the log ' +
      'fails, the connection is closed before the end, so that a client can detect an incomplete file.',
  },
} satisfies Readonly<
  Record<(typeof downloads)[number]['name'], { summary: string; schema: z.ZodMiniType; content: string }>
>;
