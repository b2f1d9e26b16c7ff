import { blockIp, blockUser, visitorStatus } from '@security-optimizer/contract/activity/endpoints';
import { formatRole } from '@security-optimizer/contract/activity/event-values';
import { type VisitorStatus, visitorStatusSchema } from '@security-optimizer/contract/activity/schemas';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import * as z from 'zod/mini';
import { SILENT, TRACKED, toCall } from '../../api/client.js';
import type { ApiError } from '../../api/envelope.js';
import { useSite } from '../../api/site-context.js';
import { tolerant } from '../../api/tolerant-schemas.js';
import { LoadFailed, SaveFailed } from '../../forms/request-failed.js';
import { useSubmit } from '../../forms/use-submit.js';
import { formatNumber } from '../../i18n/locale.js';
import { __, sprintf, translate } from '../../i18n/translate.js';
import { Button } from '../../ui/button.js';
import { Checkbox } from '../../ui/checkbox.js';
import { Dialog, useDialogClose } from '../../ui/dialog.js';
import { Icon } from '../../ui/icon.js';
import { Note } from '../../ui/inline-messages.js';
import { recentTimeText, useSiteClock } from '../settings/site-clock.js';
import { toBlock } from './blocks.js';
import { VisitorSubject } from './visitor-subject.js';

/** The visitor of a dialog. */
export interface Subject {
  readonly type: 'ip' | 'user';
  readonly id: number;
  /** Address or login name in the list. */
  readonly name: string;
}

export interface ManageDialogProps {
  readonly subject: Subject;
  readonly onChanged: () => void;
  readonly onClosed: () => void;
}

/** Manage IP Traffic and Manage User Traffic: blocks or unblocks a visitor. Fetches the status on each opening. */
export default function ManageDialog({ subject, onChanged, onClosed }: ManageDialogProps) {
  const { status, failure: unread, retry } = useVisitorStatus(subject.id);
  const { pending, failure, save } = useSubmit();
  const [single, setSingle] = useState(false);
  const closing = useDialogClose(onClosed);
  const name = status?.name || subject.name;
  const isUser = subject.type === 'user';
  const isBlocked = status?.block === 1;
  const network = status?.network ?? '';
  const canChange = status !== null && (isBlocked || status.do_not_block === 0);

  function submit(): void {
    if (!canChange) return;
    save<unknown>({
      call: {
        endpoint: isUser ? blockUser : blockIp,
        request: { id: subject.id, ...(isBlocked ? { block: 0 } : { block: 1, ...(single && { single: 1 }) }) },
      },
      onSuccess: () => {
        closing.close();
        onChanged();
      },
    });
  }

  return (
    <Dialog
      title={isUser ? __('Manage User Traffic', 'security-optimizer') : __('Manage IP Traffic', 'security-optimizer')}
      closing={closing}
      pending={pending}
      onSubmit={submit}
      footer={
        canChange ? (
          <Button
            kind={isBlocked ? 'primary' : 'danger'}
            submit
            pendingText={pending ? pendingText(isBlocked) : undefined}
          >
            {isBlocked ? __('Unblock', 'security-optimizer') : __('Block', 'security-optimizer')}
          </Button>
        ) : null
      }
    >
      {unread !== null ? (
        <LoadFailed
          text={__('We couldn’t load the present state.', 'security-optimizer')}
          failure={unread}
          onRetry={retry}
        />
      ) : status === null ? (
        <VisitorSkeleton name={name} isUser={isUser} />
      ) : (
        <>
          <VisitorSubject
            name={name}
            isUser={isUser}
            hostname={status.hostname}
            block={status.current ?? toBlock(status.block, name)}
          />
          <VisitorFacts status={status} isUser={isUser} />
          {canChange ? (
            <>
              <p>{consequence(isUser, isBlocked, name, single ? '' : network)}</p>
              {isBlocked || network === '' ? null : <OnlyThisAddress single={single} onChange={setSingle} />}
            </>
          ) : (
            <Note>
              <p>
                <strong>{__('This can’t be blocked.', 'security-optimizer')}</strong> {status.reason}
              </p>
            </Note>
          )}
        </>
      )}
      <SaveFailed failure={failure} />
    </Dialog>
  );
}

/** Option to block one IPv6 address instead of its network. */
function OnlyThisAddress({ single, onChange }: { readonly single: boolean; readonly onChange: (on: boolean) => void }) {
  return (
    <Checkbox className="so-mt-16" checked={single} onChange={onChange}>
      <b>{__('Block only this address', 'security-optimizer')}</b>
      <small>{__('The other addresses of the network can still open the site.', 'security-optimizer')}</small>
    </Checkbox>
  );
}

function pendingText(isBlocked: boolean): string {
  return isBlocked ? __('Unblocking…', 'security-optimizer') : __('Blocking…', 'security-optimizer');
}

function consequence(isUser: boolean, isBlocked: boolean, name: string, network: string): string {
  if (isUser) {
    return isBlocked
      ? __('Once unblocked, the user can log in again right away.', 'security-optimizer')
      : __(
          'If you block this user, they are logged out at once and can’t log in until you unblock them in the Blocked tab. Their content stays.',
          'security-optimizer',
        );
  }
  if (isBlocked) return __('Once unblocked, this address can open the site again right away.', 'security-optimizer');
  if (network !== '') {
    return sprintf(
      /* translators: %s: a network of IPv6 addresses */
      __(
        'An IPv6 address changes often, so its whole network %s is blocked with it. Nobody in it can open any page of the site until you unblock it in the Blocked tab.',
        'security-optimizer',
      ),
      // Isolate as left-to-right.
      `\u2066${network}\u2069`,
    );
  }
  // With anonymised addresses the visitor is a network.
  return name.includes('/')
    ? __(
        'Only this network is known, not the single address. If you block it, nobody in it can open any page of the site until you unblock it in the Blocked tab.',
        'security-optimizer',
      )
    : __(
        'If you block this address, it can’t open any page of the site until you unblock it in the Blocked tab.',
        'security-optimizer',
      );
}

interface SubjectProps {
  readonly name: string;
  readonly isUser: boolean;
}

/** Further facts about the visitor, if any. */
function VisitorFacts({ status, isUser }: { readonly status: VisitorStatus; readonly isUser: boolean }) {
  const clock = useSiteClock();
  const { visits_today: visits, first_seen: first, last_seen: last, roles } = status;

  const facts = [
    {
      name: __('Role', 'security-optimizer'),
      value:
        isUser && roles !== null && roles.length > 0
          ? roles.map((role) => formatRole(role, translate)).join(', ')
          : null,
    },
    {
      name: __('Visits, last 24 hours', 'security-optimizer'),
      value:
        visits === null ? null : (
          <span className="so-sparkcell">
            <Sparkline values={status.visits_hours ?? []} />
            {formatNumber(visits)}
          </span>
        ),
    },
    { name: __('First seen', 'security-optimizer'), value: first === null ? null : recentTimeText(first, clock) },
    { name: __('Last seen', 'security-optimizer'), value: last === null ? null : recentTimeText(last, clock) },
  ].filter(({ value }) => value !== null);

  if (facts.length === 0) return null;
  return (
    <dl className="so-dl so-num">
      {facts.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Placeholder while the status loads. */
function VisitorSkeleton({ name, isUser }: SubjectProps) {
  return (
    <>
      <div className="so-subject" aria-busy="true">
        <span className="so-tile so-tile--48">
          <Icon name={isUser ? 'user' : 'globe'} />
        </span>
        <div className="so-subject__text">
          <b className={isUser ? undefined : 'so-mono'} dir={isUser ? 'auto' : 'ltr'}>
            {name}
          </b>
          <span className="so-sk so-sk--title" />
        </div>
        <span className="so-vh" role="status">
          {__('Loading', 'security-optimizer')}
        </span>
      </div>
      <span className="so-sk so-sk--block" />
    </>
  );
}

/** Bars of the last hours, oldest first, without a scale. */
export function Sparkline({ values }: { readonly values: readonly number[] }) {
  const max = Math.max(0, ...values);
  if (max === 0) return null;
  return (
    <span className="so-spark" title={__('Visits in each of the last hours', 'security-optimizer')} aria-hidden="true">
      {values.map((value, hour) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the index is the hour
        <i key={hour} style={{ height: `${Math.max(6, Math.round((value / max) * 100))}%` }} />
      ))}
    </span>
  );
}

/** Only `block` is required. */
const schema = tolerant(visitorStatusSchema, { type: 'ip' });

/** Status of a visitor, fetched again on each mount. @param quiet a failure shows no toast */
export function useVisitorStatus(
  id: number,
  quiet = false,
): {
  readonly status: VisitorStatus | null;
  readonly failure: ApiError | null;
  readonly retry: () => void;
} {
  const { api } = useSite();
  const query = useQuery({
    queryKey: ['visitor-status', id],
    queryFn: async ({ signal }) => {
      const call = toCall(visitorStatus, { id }, { signal });
      return z.parse(schema, (await api.call<unknown>(call, quiet ? SILENT : TRACKED)).data ?? {});
    },
    gcTime: 0,
  });
  return { status: query.data ?? null, failure: query.error, retry: () => void query.refetch() };
}
