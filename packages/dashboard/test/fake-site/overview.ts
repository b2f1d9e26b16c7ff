import {
  type HardeningItem,
  type Notification,
  overviewEndpoints,
} from '@security-optimizer/contract/overview/endpoints';
import { overviewRequests } from '@security-optimizer/contract/overview/requests';
import { ok, type ReceivedRequest, type Reply, refused } from './replies.js';

/** The parts of the Security Dashboard with their own endpoints, in guard's format. */
export interface FakeOverview {
  notifications: Notification[];
  hardening: HardeningItem[];
  ebook: object | null;
  rate: { show: 0 | 1; link: string };
  facts: { blocked: number | null; block_list: number | null; failed_logins: number | null };
  consent: Record<string, unknown>;
}

export function freshOverview(): FakeOverview {
  return {
    notifications: [],
    hardening: [
      card('site-security', 'Site Security', { icon: 'site', on: 5, total: 6 }),
      card('login-settings', 'Login Security', { icon: 'key', on: 1, total: 4 }),
    ],
    ebook: null,
    rate: { show: 0, link: 'https://example.com/review' },
    facts: { blocked: 318, block_list: 6, failed_logins: null },
    consent: {},
  };
}

export function notice(id: string, item: Partial<Notification> = {}): Notification {
  return {
    id,
    level: 'warning',
    title: 'The last weekly report could not be sent',
    text: 'It was tried several times.',
    button_link: 'http://example.com/wp-admin/admin.php?page=activity-log#weekly-reports',
    button_text: 'Review recipients',
    ...item,
  };
}

function card(id: string, title: string, item: Pick<HardeningItem, 'icon' | 'on' | 'total'>): HardeningItem {
  return {
    id,
    title,
    text: 'Close the gaps.',
    button_text: 'Open',
    button_link: `http://example.com/wp-admin/admin.php?page=${id}`,
    ...item,
  };
}

/** Responds to a request of the dashboard; null for any other request. It refuses a body that violates the contract. */
export function handleOverviewRequest(overview: FakeOverview, suffix: string, call: ReceivedRequest): Reply | null {
  const endpoint = overviewEndpoints.find((item) => item.suffix === suffix);
  if (endpoint === undefined) return null;
  const parsed = overviewRequests[endpoint.name].schema.safeParse(JSON.parse(call.body || '{}'));
  if (!parsed.success || !(endpoint.methods as readonly string[]).includes(call.method)) {
    return refused(400, 'invalid_input', 'This call is not in the contract.');
  }
  switch (endpoint.name) {
    case 'notifications':
      return ok(overview.notifications);
    case 'hardening':
      return ok(overview.hardening);
    case 'ebook':
      return ok(overview.ebook);
    case 'rate':
      if ('show' in parsed.data) overview.rate.show = 0;
      return ok(overview.rate);
    case 'protectionFacts':
      return ok(overview.facts);
    default:
      overview.consent = parsed.data as Record<string, unknown>;
      return ok({ show_data_field: 0, show_email_field: 0 }, 'Thank you.');
  }
}
