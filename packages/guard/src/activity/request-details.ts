import type { RequestDetails } from '@security-optimizer/contract/activity/attackers';
import { FAILED_LOGIN_REASON, ruleReason } from '@security-optimizer/contract/activity/rule-reasons';
import { formatReference } from '../http/request-id.js';
import { ApiError } from '../lib/api-error.js';
import { toLocalTimestamp } from '../lib/time-zone.js';
import type { Actor } from '../settings/audit-store.js';
import type { SiteId } from '../site.js';
import type { ActivityStore, VisitDetails } from './activity-store.js';
import { responseText, type VisitFlags } from './anonymous-visits.js';
import type { CurrentBlocks } from './blocklist/current-blocks.js';

/** Number of the visitor's requests that are displayed. */
const RECENT = 6;

/** What a status without a rule means. */
const STATUS_REASONS: Readonly<Record<number, string>> = {
  404: 'Not found: there is no such page or file.',
  410: 'Not found: the page is gone.',
  499: 'The visitor left before there was an answer.',
};

/**
 * Returns all details of one row of the list of anonymous visits.
 * @throws ApiError not_found
 * @throws StorageError
 */
export async function readRequestDetails(
  deps: {
    readonly store: Pick<ActivityStore, 'visit' | 'visitsAround'>;
    readonly blocks: CurrentBlocks;
    readonly visitors: VisitFlags;
    readonly timeZone: (site: SiteId) => string;
  },
  { site, caller, id }: { readonly site: SiteId; readonly caller: Actor; readonly id: number },
): Promise<RequestDetails> {
  const visit = await deps.store.visit(site, id);
  if (visit === null) throw new ApiError('not_found', { message: 'This request is not in the log any more.' });
  const [recent, blocks] = await Promise.all([
    deps.store.visitsAround(site, visit, RECENT),
    deps.blocks.find(site, [visit.address]),
  ]);
  const known = (text: string) => (text === '' ? null : text);
  return {
    id: visit.id,
    ts: toLocalTimestamp(deps.timeZone(site), visit.at),
    ts_unix: visit.at,
    method: known(visit.method),
    url: visit.target.startsWith('/') ? visit.origin + visit.target : visit.target,
    code: visit.status,
    response: responseText(visit),
    rule: visit.rule,
    reason: toReason(visit),
    failed_login: visit.failedLogins > 0 ? 1 : 0,
    tried: visit.tried,
    goal: visit.goal,
    agent: known(visit.agent),
    referer: known(visit.referer),
    reference: visit.reference === 0 ? null : formatReference(visit.reference),
    count: visit.moreBits === null ? visit.count : visit.count + visit.more,
    visitor: {
      visitor_id: visit.visitorId,
      ip: visit.address,
      hostname: visit.hostname ?? '',
      block: blocks.get(visit.address) ?? null,
      do_not_block: deps.visitors.flags(site, visit, caller).do_not_block,
      requests: visit.visitorRows,
    },
    recent: recent.map((row) => ({
      ...{ id: row.id, ts_unix: row.at, target: row.target, code: row.status, rule: row.rule },
      failed_login: row.failedLogins > 0 ? 1 : 0,
    })),
  };
}

/** Returns one sentence that says what happened and why. */
function toReason({ rule, failedLogins, status }: VisitDetails): string {
  if (rule !== null) return ruleReason(rule);
  if (failedLogins > 0) return FAILED_LOGIN_REASON;
  return STATUS_REASONS[status] ?? (status >= 500 ? 'WordPress or its web server had an error.' : '');
}
