import { type RequestDetails, requestDetailsSchema } from '@security-optimizer/contract/activity/attackers';
import type { CurrentBlock } from '@security-optimizer/contract/activity/blocks';
import { activityRequest } from '@security-optimizer/contract/activity/endpoints';
import type { UnknownRow } from '@security-optimizer/contract/activity/schemas';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import * as z from 'zod/mini';
import { SILENT, toCall } from '../../api/client.js';
import { ApiError } from '../../api/envelope.js';
import { useSite } from '../../api/site-context.js';
import { tolerant } from '../../api/tolerant-schemas.js';
import { LoadFailed } from '../../forms/request-failed.js';
import { getDateFormats } from '../../i18n/date-formats.js';
import { siteNow, timeOfDay, twoDigits } from '../../i18n/days.js';
import { formatNumber } from '../../i18n/locale.js';
import { __, sprintf } from '../../i18n/translate.js';
import { CopyButton, CopyTextButton } from '../../ui/copy.js';
import { useDialogClose } from '../../ui/dialog.js';
import { classes } from '../../ui/dom.js';
import { Drawer, type OpenList, useOpenRow } from '../../ui/drawer.js';
import { useSiteTimeZone } from '../settings/use-settings.js';
import { BlockSplit } from './block-split.js';
import type { FindBlock } from './blocks.js';
import { ResponsePill } from './log-tables.js';
import { ResponseSummary } from './response-summary.js';
import type { Blocking } from './use-blocking.js';
import { VisitorSubject } from './visitor-subject.js';

export interface RequestDrawerProps extends OpenList<UnknownRow> {
  readonly findBlock: FindBlock;
  readonly blocking: Blocking;
  /** Filters the list by the visitor. */
  readonly onShowAll: (ip: string) => void;
  readonly onClosed: () => void;
}

/** The details of a request: what happened and why, the visitor, and Block. */
export default function RequestDrawer(props: RequestDrawerProps) {
  const { id, findBlock, blocking, onShowAll, onClosed } = props;
  const closing = useDialogClose(onClosed);
  const { details, loadedAt, failure, retry } = useRequestDetails(id);
  const { place } = useOpenRow(props);
  const block = details === null ? null : findBlock(details.visitor.ip, details.visitor.block, loadedAt);
  return (
    <Drawer
      title={__('Request', 'security-optimizer')}
      place={place}
      closing={closing}
      newerText={__('Newer request', 'security-optimizer')}
      olderText={__('Older request', 'security-optimizer')}
      busy={details === null && failure === null}
      footer={<Foot details={details} block={block} blocking={blocking} />}
    >
      {failure !== null ? (
        <LoadFailed
          text={__('We couldn’t load this request.', 'security-optimizer')}
          failure={failure}
          onRetry={retry}
        />
      ) : details === null ? (
        <DrawerSkeleton />
      ) : (
        <>
          <ResponseSummary details={details} />
          <Facts details={details} />
          <VisitorSubject name={details.visitor.ip} hostname={details.visitor.hostname} block={block} />
          <Recent
            details={details}
            onShowAll={() => {
              closing.close();
              onShowAll(details.visitor.ip);
            }}
          />
        </>
      )}
    </Drawer>
  );
}

const schema = tolerant(requestDetailsSchema, { goal: null });

function useRequestDetails(id: number) {
  const { api } = useSite();
  const query = useQuery({
    queryKey: ['activity-request', id],
    queryFn: async ({ signal }) => {
      const call = toCall(activityRequest, { id }, { signal });
      const { data } = z.safeParse(schema, (await api.call<unknown>(call, SILENT)).data);
      if (data === undefined) throw new ApiError('refused');
      return data;
    },
    // The visitor may have sent further requests.
    staleTime: 10_000,
  });
  return {
    details: query.data ?? null,
    loadedAt: query.dataUpdatedAt,
    failure: query.data === undefined && !query.isFetching ? query.error : null,
    retry: () => void query.refetch(),
  };
}

function Facts({ details }: { readonly details: RequestDetails }) {
  const { method, url, ts_unix: seconds, code, response, rule, failed_login, agent, referer, reference } = details;
  const facts: readonly (readonly [string, ReactNode])[] = [
    [
      __('Address', 'security-optimizer'),
      <span key="address">
        <bdi dir="ltr">
          {method === null ? null : <b>{method} </b>}
          <span className="so-mono">{url}</span>
        </bdi>
      </span>,
    ],
    [
      __('Time', 'security-optimizer'),
      <span key="time" className="so-num">
        {useTimeText()(seconds)}
        {details.count > 1 ? (
          /* translators: %d: how often a page was visited in a moment */
          <span className="so-muted">, {sprintf(__('%d times', 'security-optimizer'), details.count)}</span>
        ) : null}
      </span>,
    ],
    [
      __('Answer', 'security-optimizer'),
      <span key="answer">
        <ResponsePill code={code} response={response} rule={rule} failed_login={failed_login} />{' '}
        {rule === null ? null : __('The visitor saw the “blocked” page.', 'security-optimizer')}
      </span>,
    ],
    [__('Browser', 'security-optimizer'), <Value key="agent" text={agent} />],
    [__('Came from', 'security-optimizer'), <Value key="referer" text={referer} />],
    [
      __('Reference', 'security-optimizer'),
      <span key="reference" className="so-dl__copy">
        <Value text={reference} />
        {reference ? <CopyButton text={reference} label={__('Reference', 'security-optimizer')} /> : null}
      </span>,
    ],
  ];
  return (
    <dl className="so-dl so-dl--left">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A value of the visitor as plain text. */
function Value({ text }: { readonly text: string | null }) {
  if (text === null || text === '') return <span className="so-muted">{__('Not given', 'security-optimizer')}</span>;
  return (
    <span className="so-mono">
      <bdi dir="ltr">{text}</bdi>
    </span>
  );
}

/** "Today, 14:12:26", local time of the site. */
function useTimeText(): (seconds: number) => string {
  const formats = getDateFormats();
  const zone = useSiteTimeZone();
  return (seconds) => {
    const { day, minutes } = siteNow(zone, seconds * 1000);
    const time = formats.fullTime(`${timeOfDay(minutes)}:${twoDigits(seconds % 60)}`);
    const isToday = day === siteNow(zone, Date.now()).day;
    /* translators: %s: time of the day */
    return isToday ? sprintf(__('Today, %s', 'security-optimizer'), time) : `${formats.shortDate(day)}, ${time}`;
  };
}

/** Requests of the visitor around this one, newest first. */
function Recent({ details, onShowAll }: { readonly details: RequestDetails; readonly onShowAll: () => void }) {
  const formats = getDateFormats();
  const zone = useSiteTimeZone();
  const { recent, visitor } = details;
  if (recent.length === 0) return null;
  const timeText = (seconds: number): string => {
    const { minutes } = siteNow(zone, seconds * 1000);
    return formats.fullTime(`${timeOfDay(minutes)}:${twoDigits(seconds % 60)}`);
  };
  return (
    <div>
      <div className="so-drawer__sub">
        <h3>{__('Last requests of this visitor', 'security-optimizer')}</h3>
        {visitor.requests > recent.length ? (
          <button type="button" className="so-link" onClick={onShowAll}>
            {/* translators: %s: number of requests */}
            {sprintf(__('Show all %s', 'security-optimizer'), formatNumber(visitor.requests))}
          </button>
        ) : null}
      </div>
      <ol className="so-requests so-num">
        {recent.map((item) => {
          const isFailure = item.failed_login === 1 || item.code >= 400;
          return (
            <li
              key={item.id}
              className={classes(
                item.rule !== null ? 'is-bad' : isFailure && 'is-warn',
                item.id === details.id && 'is-here',
              )}
              aria-current={item.id === details.id || undefined}
            >
              <time dir="ltr">{timeText(item.ts_unix)}</time>
              <span className="so-mono" title={item.target}>
                <bdi dir="ltr">{item.target}</bdi>
              </span>
              <ResponsePill code={item.code} response="" rule={item.rule} failed_login={item.failed_login} />
            </li>
          );
        })}
      </ol>
    </div>
  );
}

interface FootProps {
  readonly details: RequestDetails | null;
  readonly block: CurrentBlock | null;
  readonly blocking: Blocking;
}

function Foot({ details, block, blocking }: FootProps) {
  const visitor = details?.visitor;
  return (
    <>
      <CopyTextButton text={details === null ? null : toText(details)}>
        {__('Copy details', 'security-optimizer')}
      </CopyTextButton>
      {visitor === undefined ? (
        <BlockSplit target={null} blocking={blocking} />
      ) : visitor.visitor_id === 0 || (visitor.do_not_block === 1 && block === null) ? null : (
        <BlockSplit target={{ name: visitor.ip, visitorId: visitor.visitor_id, block }} blocking={blocking} />
      )}
    </>
  );
}

/** The details as plain text, for a support request. */
function toText(details: RequestDetails): string {
  const { method, url, ts, response, rule, agent, referer, reference, visitor } = details;
  return [
    `${method ?? ''} ${url}`.trim(),
    `Time: ${ts}`,
    `Answer: ${response}${rule === null ? '' : ` (${rule})`}`,
    `Visitor: ${visitor.ip}${visitor.hostname === '' ? '' : ` (${visitor.hostname})`}`,
    `Browser: ${agent ?? '-'}`,
    `Came from: ${referer ?? '-'}`,
    `Reference: ${reference ?? '-'}`,
  ].join('\n');
}

/** Placeholder of the body while the details load. */
function DrawerSkeleton() {
  return (
    <>
      <span className="so-vh" role="status">
        {__('Loading', 'security-optimizer')}
      </span>
      <span className="so-sk so-sk--answer" aria-hidden="true" />
      <span className="so-sk so-sk--facts" aria-hidden="true" />
      <span className="so-sk so-sk--answer" aria-hidden="true" />
    </>
  );
}
