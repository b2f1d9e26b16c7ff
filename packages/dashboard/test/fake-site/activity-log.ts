import type { Attacker, Attackers, RequestDetails } from '@security-optimizer/contract/activity/attackers';
import type { CurrentBlock } from '@security-optimizer/contract/activity/blocks';
import { activityEndpoints, weeklyReportEndpoints } from '@security-optimizer/contract/activity/endpoints';
import type {
  ActivityFilter,
  ActivityOptions,
  BlockedRow,
  RegisteredRow,
  UnknownRow,
} from '@security-optimizer/contract/activity/schemas';
import { alertEndpoints } from '@security-optimizer/contract/alerts/endpoints';
import { ALERT_KINDS, type Alerts, type LastDelivery } from '@security-optimizer/contract/alerts/schemas';
import { requests } from '@security-optimizer/contract/requests';
import { ok, type ReceivedRequest, type Reply, refused } from './replies.js';
import { freshSettings } from './settings.js';

/** The activity log of a site, with guard's responses. */
export interface FakeLog {
  unknown: UnknownRow[];
  registered: RegisteredRow[];
  blocked: BlockedRow[];
  options: ActivityOptions;
  emails: string[];
  maxEmails: number;
  /** Null: the server has no alerts. */
  alerts: Alerts | null;
  /** The response to a test alert. */
  alertTest: { ok: 0 | 1; sent: number; text: string };
  /** Rows that were added since the lists were loaded. */
  news: number;
  /** Null: the server lacks the endpoint of the traffic. */
  traffic: { from: number; to: number; humans: number; bots: number; blocked: number }[] | null;
  status: Record<string, unknown>;
  /** Rows per page. */
  pageRows: number;
  /** Null: the server lacks the endpoint of attackers. */
  attackers: Attackers | null;
  /** Details of requests, besides those derived from the row. */
  details: Partial<RequestDetails>;
  /** Entries that a shorter retention deletes. */
  olderEntries: number;
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
        until_unix: null,
        by: 'owner',
        by_login: 'owner',
        note: '',
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
        until_unix: null,
        by: 'owner',
        by_login: 'editor-1',
        note: 'Wrote to them on Monday',
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
        until_unix: LOG_NOW + DAY + 29_332,
        by: 'lock',
        by_login: '',
        note: '',
        user: '2001:db8:77::9',
        visitor_id: 0,
        type: 'ip',
        hostname: '',
      },
    ],
    options: {
      ...freshSettings('log'),
      dropped: 0,
      log_lifetime_undo: null,
    },
    emails: ['owner@example.com', 'agency@example.net'],
    maxEmails: 5,
    alerts: freshAlerts(),
    alertTest: { ok: 1, sent: 1, text: '' },
    news: 0,
    traffic: Array.from({ length: 3 }, (_, index) => ({
      from: 1_795_219_200 + (index - 2) * DAY,
      to: 1_795_219_200 + (index - 1) * DAY,
      humans: 100 * (index + 1),
      bots: 50,
      blocked: index,
    })),
    status: { block: 0, type: 'ip', name: '203.0.113.24', hostname: '', do_not_block: 0, reason: '' },
    pageRows: 30,
    attackers: freshAttackers(),
    details: {},
    olderEntries: 1207,
  };
}

/** Five attackers, one of them locked out. */
function freshAttackers(): Attackers {
  const attacker = (row: Partial<Attacker> & Pick<Attacker, 'address' | 'days' | 'goal' | 'target'>): Attacker => ({
    addresses: 1,
    hostname: '',
    visitor_id: 0,
    attempts: row.days.reduce((sum, day) => sum + day, 0),
    block: null,
    blocked_addresses: 0,
    do_not_block: 0,
    own: 0,
    ...row,
  });
  return {
    from: LOG_NOW - (LOG_NOW % DAY) - 6 * DAY,
    attempts: 318,
    scanned: 0,
    addresses: 31,
    logins: 0,
    mistyped: 0,
    failed: 0,
    failed_addresses: 0,
    locked: 0,
    entries: [
      attacker({
        address: '198.51.100.0/24',
        addresses: 14,
        goal: 'passwords',
        target: '/xmlrpc.php',
        days: [4, 6, 9, 41, 22, 18, 12],
      }),
      attacker({
        address: '203.0.113.24',
        visitor_id: 1,
        hostname: 'host-24.example.net',
        goal: 'passwords',
        target: '/wp-login.php',
        days: [3, 8, 10, 14, 16, 17, 13],
        block: { by: 'lock', by_login: '', until: LOG_NOW + 3532, note: '', range: '203.0.113.24' },
      }),
      attacker({
        address: '203.0.113.201',
        visitor_id: 201,
        goal: 'holes',
        target: '/wp-content/plugins/example-forms/',
        days: [0, 0, 2, 5, 9, 19, 12],
      }),
      attacker({
        address: '2001:db8:77::/64',
        addresses: 3,
        goal: 'files',
        target: '/wp-config.php.bak',
        days: [5, 4, 6, 3, 5, 4, 2],
      }),
      attacker({
        address: '192.0.2.140',
        visitor_id: 140,
        hostname: 'host-140.example.org',
        goal: 'users',
        target: '/?author=1',
        days: [0, 0, 3, 6, 4, 3, 2],
      }),
    ],
    targets: [
      { target: '/xmlrpc.php', attempts: 112 },
      { target: '/wp-login.php', attempts: 84 },
      { target: '/wp-content/plugins/example-forms/', attempts: 51 },
      { target: '/wp-config.php.bak', attempts: 29 },
    ],
    goals: [
      { goal: 'passwords', attempts: 193 },
      { goal: 'holes', attempts: 58 },
      { goal: 'files', attempts: 37 },
      { goal: 'users', attempts: 18 },
    ],
  };
}

/** All kinds except one: no feature reports known vulnerabilities yet. */
const OFFERED = ALERT_KINDS.filter((kind) => kind !== 'vulnerability-found');

function freshAlerts(): Alerts {
  return {
    kinds: [...OFFERED],
    recipients: [
      { email: 'owner@example.com', report: 1, kinds: [...OFFERED], last: null },
      { email: 'agency@example.net', report: 1, kinds: [], last: null },
    ],
    ...freshSettings('alerts'),
    webhook: null,
    slack: null,
    syslog: null,
  };
}

/** A delivery that succeeded, unless `changes` say otherwise. */
export function delivery(changes: Partial<LastDelivery> = {}): LastDelivery {
  return { at: '2026-11-21 13:40', ok: 1, text: '200', waiting: 0, lost: 0, lost_text: '', ...changes };
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
    reason: '',
    failed_login: 0,
    tried: '',
    current_block: null,
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
    ip_visitor_id: 22,
    ip_block: null,
    ip_do_not_block: 0,
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
const filters: Readonly<Record<'unknown' | 'registered', ActivityFilter[]>> = {
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

const endpoints = [...activityEndpoints, ...weeklyReportEndpoints, ...alertEndpoints];

/**
 * Responds to a request of the page Activity Log; null for any other request. It refuses a body that violates the
 * contract.
 */
export function handleLogRequest(log: FakeLog, suffix: string, call: ReceivedRequest): Reply | null {
  const endpoint = endpoints.find((item) => matches(item.suffix, suffix));
  if (endpoint === undefined) return null;
  const id = suffix.split('/').pop();
  const body = {
    ...(call.body === '' ? {} : JSON.parse(call.body)),
    ...(endpoint.suffix.includes('{id}') ? { id } : {}),
  };
  if (alertEndpoints.some(({ name }) => name === endpoint.name) && log.alerts === null) {
    return refused(404, 'rest_no_route', 'No route was found.');
  }
  const parsed = requests[endpoint.name].schema.safeParse(body);
  if (!parsed.success) return refused(400, 'invalid_input', parsed.error.message);
  return handleRequest(log, endpoint.name, body);
}

/** Details that are derived from a row of the list. */
function toDetails(log: FakeLog, row: UnknownRow): RequestDetails {
  const recent = log.unknown
    .filter(({ ip }) => ip === row.ip)
    .slice(0, 6)
    .map((item) => ({
      id: item.id,
      ts_unix: item.ts_unix,
      target: item.page_visited,
      code: item.code,
      rule: item.rule,
      failed_login: item.failed_login,
    }));
  return {
    id: row.id,
    ts: row.ts,
    ts_unix: row.ts_unix,
    method: 'GET',
    url: `https://example.com${row.page_visited}`,
    code: row.code,
    response: row.response,
    rule: row.rule,
    reason: row.reason,
    failed_login: row.failed_login,
    tried: row.tried,
    goal: null,
    agent: 'Mozilla/5.0 (compatible; example-scanner/1.0)',
    referer: null,
    reference: '001N-GDMM',
    count: row.count,
    visitor: {
      visitor_id: row.visitor_id,
      ip: row.ip,
      hostname: row.hostname,
      block: row.current_block,
      do_not_block: row.do_not_block,
      requests: recent.length,
    },
    recent,
    ...log.details,
  };
}

/** The block that a request sets, in guard's format. */
function findBlock(body: LogBody, range: string): CurrentBlock | null {
  const { block = 1, duration = 0, note = '' } = body;
  if (block === 0) return null;
  const until = duration > 0 ? Math.floor(Date.now() / 1000) + duration : null;
  return { by: 'owner', by_login: 'owner', until, note, range };
}

function findAddress(log: FakeLog, id: number): string {
  const rows = [...log.unknown.map(({ visitor_id, ip }) => ({ visitor_id, ip })), ...attackerRows(log)];
  return rows.find((row) => row.visitor_id === id)?.ip ?? '';
}

function attackerRows(log: FakeLog) {
  return (log.attackers?.entries ?? []).map(({ visitor_id, address }) => ({ visitor_id, ip: address }));
}

interface LogBody {
  readonly duration?: number;
  readonly note?: string;
  readonly network?: 0 | 1;
  readonly address?: string;
  readonly ids?: readonly number[];
  readonly id?: string;
  readonly ip?: string;
  readonly page?: number;
  readonly block?: 0 | 1;
  readonly search?: string;
  readonly entries?: string[];
  readonly email?: string;
  readonly report?: 0 | 1;
  readonly kinds?: Alerts['kinds'];
  readonly url?: string;
  readonly host?: string;
  readonly port?: number;
  readonly protocol?: NonNullable<Alerts['syslog']>['protocol'];
  readonly framing?: 'octets' | 'lf';
}

function handleRequest(log: FakeLog, name: string, body: LogBody): Reply {
  switch (name) {
    case 'activityUnknown':
      return ok(toPage(log, log.unknown, filters.unknown, body));
    case 'registeredActivity':
      return ok(toPage(log, log.registered, filters.registered, body));
    case 'blockedUsers':
      return ok(toPage(log, log.blocked, [], body));
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
      syncRecipients(log);
      return ok(recipients(log), 'The list is saved.');
    case 'previewWeeklyReport':
      return ok({ subject: 'Weekly report for example.com', html: '<h1>A quiet week</h1>', text: 'A quiet week' });
    case 'testWeeklyReport':
      return ok({ email: 'owner@example.com' });
    case 'fetchAlerts':
      return ok(log.alerts);
    case 'testAlerts':
      return ok({ ...log.alertTest, alerts: log.alerts });
    case 'update:alert_recipient':
    case 'update:alert_webhook':
    case 'update:alert_slack':
    case 'update:alert_syslog':
      log.alerts = changedAlerts(log.alerts as Alerts, name, body);
      return ok(log.alerts, 'Saved.');
    case 'activityAttackers':
      return log.attackers === null ? refused(404, 'not_found', 'No such call.') : ok(log.attackers);
    case 'activityRequest': {
      const row = log.unknown.find(({ id }) => String(id) === body.id);
      return row === undefined ? refused(404, 'not_found', 'This request is not kept.') : ok(toDetails(log, row));
    }
    case 'blockIp':
    case 'blockUser':
    case 'loginUnblock': {
      log.blocked = log.blocked.filter((row) => String(row.visitor_id) !== body.id && row.user !== body.ip);
      const ip = findAddress(log, Number(body.id));
      const range = body.network === 1 ? ip.replace(/\.\d+$/, '.0/24') : ip;
      const current = name === 'blockIp' ? findBlock(body, range) : null;
      if (name === 'blockIp' && log.attackers !== null) {
        const entries = log.attackers.entries.map((row) => (row.address === range ? { ...row, block: current } : row));
        log.attackers = { ...log.attackers, entries };
      }
      return ok({ block: body.block ?? 0, current }, 'Done.');
    }
    case 'blockAddresses':
      return ok({ visitor_id: 77, block: 1, current: findBlock(body, body.address ?? '') }, 'Blocked.');
    case 'logLifetimePreview':
      return ok({ visits: log.olderEntries, events: 0, exact: 1 });
    case 'blockVisitors': {
      const ids = body.ids ?? [];
      const mustNot = (id: number): boolean =>
        log.unknown.some((row) => row.visitor_id === id && row.do_not_block === 1);
      return ok({
        done: ids
          .filter((id) => !mustNot(id))
          .map((id) => ({ visitor_id: id, block: body.block ?? 1, current: findBlock(body, findAddress(log, id)) })),
        refused: ids.filter(mustNot).map((id) => ({ visitor_id: id, reason: 'This is a verified search engine.' })),
      });
    }
    default:
      throw new Error(`The fake site has no response to ${name}.`);
  }
}

/** A new recipient gets only the weekly report. */
function syncRecipients(log: FakeLog): void {
  if (log.alerts === null) return;
  const known = log.alerts.recipients;
  const recipients = log.emails.map(
    (email) => known.find((item) => item.email === email) ?? { email, report: 1 as const, kinds: [], last: null },
  );
  log.alerts = { ...log.alerts, recipients };
}

function changedAlerts(alerts: Alerts, name: string, body: LogBody): Alerts {
  const { email, report = 1, kinds = [], url = '', host = '', port = 514 } = body;
  const address = url.replace(/^https?:\/\//, '').replace(/\?.*$/, '?…');
  switch (name) {
    case 'update:alert_recipient':
      return {
        ...alerts,
        recipients: alerts.recipients.map((item) => (item.email === email ? { ...item, report, kinds } : item)),
      };
    case 'update:alert_webhook':
      return { ...alerts, webhook: url === '' ? null : { address, has_secret: 1, last: null } };
    case 'update:alert_slack':
      return { ...alerts, slack: url === '' ? null : { address: address.replace(/\/.*/, ''), last: null } };
    default: {
      const { protocol = 'udp', framing = 'octets' } = body;
      return { ...alerts, syslog: host === '' ? null : { host, port, protocol, framing, last: null } };
    }
  }
}

function toPage<Row>(log: FakeLog, rows: Row[], filterList: ActivityFilter[], { page = 1 }: { page?: number }) {
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
  return { entries: log.emails.map((email, index) => ({ id: index + 1, email })), max_emails: log.maxEmails };
}

function matches(pattern: string, suffix: string): boolean {
  return pattern.includes('{id}') ? suffix.startsWith(pattern.replace('{id}', '')) : pattern === suffix;
}
