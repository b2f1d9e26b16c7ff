import type {
  ActivityFilter,
  ActivityOptions,
  BlockedRow,
  RegisteredRow,
  UnknownRow,
} from '@security-optimizer/contract/activity';
import { activityEndpoints, weeklyReportEndpoints } from '@security-optimizer/contract/activity-endpoints';
import { ok, type Reply, refused, type SeenCall } from './replies.js';

/** The activity log of a site, as guard answers it. */
export interface FakeLog {
  unknown: UnknownRow[];
  registered: RegisteredRow[];
  blocked: BlockedRow[];
  options: ActivityOptions;
  emails: string[];
  maxEmails: number;
  /** Rows that came since the lists were read. */
  news: number;
  /** Null: this server knows no sums. */
  traffic: { from: number; to: number; humans: number; bots: number; blocked: number }[] | null;
  status: Record<string, unknown>;
  /** Rows of a page. */
  pageRows: number;
}

/** 21 November 2026, 14:32:08 UTC. */
export const LOG_NOW = 1_795_271_528;
const DAY = 86_400;

export function freshLog(): FakeLog {
  return {
    unknown: [
      visit(100, { ip: '203.0.113.24', hostname: 'host-24.example.net', visitor_id: 1, code: 403, rule: 'xml-rpc' }),
      visit(99, { ip: '192.0.2.66', type: 'Googlebot', visitor_id: 2, do_not_block: 1 }),
      visit(98, { ip: '198.51.100.140', type: 'Unknown', visitor_id: 3, page_visited: '/.env', code: 404, count: 12 }),
    ],
    registered: [
      deed(50, { user: 'editor-1', visitor_id: 11 }),
      deed(49, { user: 'owner', visitor_id: 12, you: 1, do_not_block: 1, words: words('login', '') }),
    ],
    blocked: [
      {
        id: 'b1',
        ts: '2026-11-21 14:32',
        ts_unix: LOG_NOW,
        until: null,
        user: '203.0.113.24',
        visitor_id: 1,
        type: 'ip',
        hostname: '',
      },
      {
        id: 'b2',
        ts: '2026-11-20 09:17',
        ts_unix: LOG_NOW - DAY,
        until: null,
        user: 'customer-31',
        visitor_id: 31,
        type: 'user',
        hostname: '',
      },
      {
        id: 'b3',
        ts: '2026-11-18 22:41',
        ts_unix: LOG_NOW - 3 * DAY,
        until: '2026-11-22 22:41',
        user: '2001:db8:77::9',
        visitor_id: 0,
        type: 'ip',
        hostname: '',
      },
    ],
    options: {
      disable_activity_log: 0,
      log_lifetime: Array.from({ length: 12 }, (_, place) => ({
        value: place + 1,
        label: place === 0 ? '1 day' : `${place + 1} days`,
        selected: place === 11 ? (1 as const) : (0 as const),
      })),
      anonymize_addresses: 0,
      dropped: 0,
    },
    emails: ['owner@example.com', 'agency@example.net'],
    maxEmails: 5,
    news: 0,
    traffic: Array.from({ length: 3 }, (_, place) => ({
      from: 1_795_219_200 + (place - 2) * DAY,
      to: 1_795_219_200 + (place - 1) * DAY,
      humans: 100 * (place + 1),
      bots: 50,
      blocked: place,
    })),
    status: { block: 0, type: 'ip', name: '203.0.113.24', hostname: '', do_not_block: 0, reason: '' },
    pageRows: 30,
  };
}

export function visit(id: number, row: Partial<UnknownRow> = {}): UnknownRow {
  const code = row.code ?? 200;
  return {
    id,
    ts: '2026-11-21 14:32',
    ts_unix: LOG_NOW,
    ip: '198.51.100.7',
    hostname: '',
    response: String(code),
    visitor_id: id,
    block: 0,
    do_not_block: 0,
    type: 'Human',
    page_visited: '/',
    count: 1,
    more: 0,
    more_from: row.ip ?? '198.51.100.7',
    code,
    rule: null,
    ...row,
  };
}

export function words(kind: string, object: string): RegisteredRow['words'] {
  return { kind, object, object_type: 'page', before: null, after: null };
}

export function deed(id: number, row: Partial<RegisteredRow> = {}): RegisteredRow {
  return {
    id,
    ts: '2026-11-21 14:29',
    ts_unix: LOG_NOW - 143,
    ip: '198.51.100.22',
    hostname: 'office-22.example.net',
    response: '',
    visitor_id: id,
    block: 0,
    do_not_block: 0,
    user: 'editor-1',
    activity: 'Updated page “About us”',
    actions: 'post.updated',
    words: words('post.updated', 'About us'),
    origin: 'web',
    you: 0,
    ...row,
  };
}

function child(id: string, label: string, options: { label: string; value: string | number }[] = []) {
  return {
    id,
    label,
    value: null,
    selectedValue: null,
    options,
    optionLabel: 'label' as const,
    optionValue: 'value' as const,
    searchable: options.length > 0,
    placeholder: 'All',
  };
}

const date: ActivityFilter = {
  type: 'datepicker',
  wp_name: 'date',
  children: [child('from', 'From'), child('to', 'To')],
};
const dropdown = (wp_name: string, field: ReturnType<typeof child>): ActivityFilter => ({
  type: 'dropdown',
  wp_name,
  children: [field],
});
export const filters: Readonly<Record<'unknown' | 'registered', ActivityFilter[]>> = {
  unknown: [
    date,
    dropdown(
      'type',
      child('type', 'Visitor', [
        { label: 'Human', value: 'Human' },
        { label: 'Googlebot', value: 'Googlebot' },
      ]),
    ),
    dropdown('code', child('code', 'Response', [{ label: '200', value: '200' }])),
    dropdown('ip', child('ip', 'IP address', [{ label: '203.0.113.24', value: '203.0.113.24' }])),
  ],
  registered: [date, dropdown('user', child('user', 'User', [{ label: 'editor-1', value: 11 }]))],
};

const endpoints = [...activityEndpoints, ...weeklyReportEndpoints];

/** Answers a call of the page Activity Log; null when it is none. A body that the contract has not is refused. */
export function answerLog(log: FakeLog, suffix: string, call: SeenCall): Reply | null {
  const endpoint = endpoints.find((item) => matches(item.suffix, suffix));
  if (endpoint === undefined) return null;
  const id = suffix.split('/').pop();
  const body = {
    ...(call.body === '' ? {} : JSON.parse(call.body)),
    ...(endpoint.suffix.includes('{id}') ? { id } : {}),
  };
  const parsed = endpoint.request.safeParse(body);
  if (!parsed.success) return refused(400, 'invalid_input', parsed.error.message);
  return answer(log, endpoint.name, body);
}

interface LogBody {
  readonly id?: string;
  readonly ip?: string;
  readonly page?: number;
  readonly block?: 0 | 1;
  readonly search?: string;
  readonly entries?: string[];
  readonly log_lifetime?: number;
}

function answer(log: FakeLog, name: string, body: LogBody): Reply {
  switch (name) {
    case 'activityUnknown':
      return ok(pageOf(log, log.unknown, filters.unknown, body));
    case 'registeredActivity':
      return ok(pageOf(log, log.registered, filters.registered, body));
    case 'blockedUsers':
      return ok(pageOf(log, log.blocked, [], body));
    case 'activityNews':
      return ok({ count: log.news });
    case 'searchActivityFilter':
      return ok({
        options: ['GPTBot', 'Googlebot']
          .filter((bot) => bot.toLowerCase().includes(body.search ?? ''))
          .map((bot) => ({ label: bot, value: bot })),
      });
    case 'activityTraffic':
      return log.traffic === null
        ? refused(404, 'not_found', 'No such call.')
        : ok({ bars: log.traffic, step: 'day', humans: 0, bots: 0, blocked: 0 });
    case 'visitorStatus':
      return ok(log.status);
    case 'weeklyReport':
      return ok(recipients(log));
    case 'update:notification_emails':
      log.emails = body.entries ?? [];
      return ok(recipients(log), 'The list is saved.');
    case 'previewWeeklyReport':
      return ok({ subject: 'Weekly report for example.com', html: '<h1>A quiet week</h1>', text: 'A quiet week' });
    case 'testWeeklyReport':
      return ok({ email: 'owner@example.com' });
    case 'blockIp':
    case 'blockUser':
    case 'loginUnblock':
      log.blocked = log.blocked.filter((row) => String(row.visitor_id) !== body.id && row.user !== body.ip);
      return ok({ block: body.block ?? 0 }, 'Done.');
    case 'blockAddresses':
      return ok({ visitor_id: 77, block: 1 }, 'Blocked.');
    case 'update:log_lifetime':
      log.options.log_lifetime = log.options.log_lifetime.map((item) => ({
        ...item,
        selected: item.value === body.log_lifetime ? 1 : 0,
      }));
      return ok({ log_lifetime: log.options.log_lifetime }, 'Saved.');
    default:
      Object.assign(log.options, body);
      return ok(body, 'Saved.');
  }
}

function pageOf<Row>(log: FakeLog, rows: Row[], filterList: ActivityFilter[], { page = 1 }: { page?: number }) {
  const start = (page - 1) * log.pageRows;
  const pages = Math.max(1, Math.ceil(rows.length / log.pageRows));
  return {
    entries: rows.slice(start, start + log.pageRows),
    filters: filterList,
    page,
    pages,
    cursor: page < pages ? `after-${page}` : null,
    total: rows.length,
  };
}

function recipients(log: FakeLog) {
  return { entries: log.emails.map((email, place) => ({ id: place + 1, email })), max_emails: log.maxEmails };
}

function matches(pattern: string, suffix: string): boolean {
  return pattern.includes('{id}') ? suffix.startsWith(pattern.replace('{id}', '')) : pattern === suffix;
}
