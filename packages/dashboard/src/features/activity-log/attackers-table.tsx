import type { Attacker } from '@security-optimizer/contract/activity/attackers';
import { type LogView, toLogHref } from '@security-optimizer/contract/activity/log-address';
import { useState } from 'react';
import { useSite } from '../../api/site-context.js';
import { formatNumber } from '../../i18n/locale.js';
import { __, _n, sprintf } from '../../i18n/translate.js';
import { classes } from '../../ui/dom.js';
import { Icon } from '../../ui/icon.js';
import { useSiteClock } from '../settings/site-clock.js';
import type { AppliedFilters } from './applied-filters.js';
import { blockText, endText } from './blocks.js';
import { goalText } from './reasons.js';
import type { Blocking } from './use-blocking.js';

/** On phones CSS turns the table into cards; see ui/table.tsx. */
const CELL = { role: 'cell' } as const;

interface AttackersTableProps extends AttackersPanelProps {
  readonly rows: readonly Attacker[];
}

export function AttackersTable({ rows, applied, onApply, blocking }: AttackersTableProps) {
  const heads = [
    __('Address', 'security-optimizer'),
    __('What they want', 'security-optimizer'),
    __('7 days', 'security-optimizer'),
    __('Attempts', 'security-optimizer'),
  ];
  return (
    // biome-ignore lint/a11y/noRedundantRoles: browsers drop the role when CSS makes cards of the rows
    <table className="so-table so-table--foes" role="table" aria-label={__('Who is attacking', 'security-optimizer')}>
      {/* biome-ignore lint/a11y/noRedundantRoles: see above */}
      <thead role="rowgroup">
        {/* biome-ignore lint/a11y/noRedundantRoles: see above */}
        <tr role="row">
          {heads.map((head, index) => (
            // biome-ignore lint/a11y/noRedundantRoles: see above
            <th key={head} role="columnheader" scope="col" className={index === 3 ? 'so-c-end' : undefined}>
              {head}
            </th>
          ))}
          {/* biome-ignore lint/a11y/noRedundantRoles: see above */}
          <th role="columnheader" scope="col">
            <span className="so-vh">{__('Block', 'security-optimizer')}</span>
          </th>
        </tr>
      </thead>
      {/* biome-ignore lint/a11y/noRedundantRoles: see above */}
      <tbody role="rowgroup">
        {rows.map((row) => (
          // biome-ignore lint/a11y/noRedundantRoles: see above
          <tr key={row.address} role="row" className={row.block === null ? undefined : 'is-blocked'}>
            <td {...CELL} className="so-f-who">
              <span className="so-foe">
                <AddressLink
                  address={row.address}
                  on={isAddressApplied(applied, row.address)}
                  onToggle={(on) => onApply(withAddress(applied, row.address, on))}
                />
                <AttackerState row={row} />
              </span>
            </td>
            <td {...CELL} className="so-f-want">
              <span className="so-foe">
                <b>{goalText(row.goal)}</b>
                <small className="so-mono" title={row.target}>
                  <bdi dir="ltr">{row.target}</bdi>
                </small>
              </span>
            </td>
            <td {...CELL} className="so-f-days">
              <Days row={row} />
            </td>
            <td {...CELL} className="so-c-num so-num">
              <b>{formatNumber(row.attempts)}</b>
            </td>
            <td {...CELL} className="so-c-end so-f-act">
              <BlockButton row={row} blocking={blocking} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function isAddressApplied({ choices }: AppliedFilters, address: string): boolean {
  return choices.some(({ group, value }) => group === 'ip' && value === address);
}

function withAddress(applied: AppliedFilters, address: string, on: boolean): AppliedFilters {
  const others = applied.choices.filter(({ group }) => group !== 'ip');
  const name = __('IP address', 'security-optimizer');
  return {
    ...applied,
    choices: on ? [...others, { group: 'ip', child: 'ip', name, value: address, text: address }] : others,
  };
}

interface AddressLinkProps {
  readonly address: string;
  readonly on: boolean;
  readonly onToggle: (on: boolean) => void;
}

function AddressLink({ address, on, onToggle }: AddressLinkProps) {
  return (
    <button
      type="button"
      className="so-link so-mono"
      dir="ltr"
      aria-pressed={on}
      /* translators: %s: an address or a network */
      aria-label={sprintf(__('Show only %s', 'security-optimizer'), address)}
      onClick={() => onToggle(!on)}
    >
      {address}
    </button>
  );
}

/** Second line of a row: its block, a warning, its number of addresses, or its host name. */
function AttackerState({ row }: { readonly row: Attacker }) {
  const clock = useSiteClock();
  const { block } = row;
  if (block !== null) {
    return (
      <span className="so-mark">
        <Icon name="ban" />
        {block.by === 'lock' || block.until === null
          ? blockText(block, clock)
          : /* translators: %s: day and time, for example "tomorrow, 14:35" */
            sprintf(__('Until %s', 'security-optimizer'), endText(block.until, clock))}
      </span>
    );
  }
  if (row.own === 1) {
    return (
      <small>
        {row.addresses > 1
          ? __('Includes your own address', 'security-optimizer')
          : __('Your own address', 'security-optimizer')}
      </small>
    );
  }
  if (row.do_not_block === 1) {
    return <small>{__('Not to be blocked: server, monitor or search engine', 'security-optimizer')}</small>;
  }
  if (row.addresses > 1) {
    const number = formatNumber(row.addresses);
    return (
      <small className="so-num">
        {row.blocked_addresses > 0
          ? sprintf(
              /* translators: 1: number of addresses, 2: number of those that are blocked already */
              __('%1$s addresses, %2$s blocked', 'security-optimizer'),
              number,
              formatNumber(row.blocked_addresses),
            )
          : sprintf(
              /* translators: %s: number of addresses */
              _n('%s address of one network', '%s addresses of one network', row.addresses, 'security-optimizer'),
              number,
            )}
      </small>
    );
  }
  if (row.hostname === '') return <small>{__('No host name', 'security-optimizer')}</small>;
  return <small title={row.hostname}>{row.hostname}</small>;
}

/** Attempts of each day, oldest first. */
function Days({ row: { days } }: { readonly row: Attacker }) {
  const max = Math.max(1, ...days);
  return (
    <>
      <span className="so-spark" aria-hidden="true">
        {days.map((value, day) => (
          <i
            // biome-ignore lint/suspicious/noArrayIndexKey: the index is the day
            key={day}
            className={value > 0 ? 'is-bad' : undefined}
            style={{ height: `${Math.max(6, Math.round((value / max) * 100))}%` }}
          />
        ))}
      </span>
      <span className="so-vh">{days.join(', ')}</span>
    </>
  );
}

interface BlockButtonProps {
  readonly row: Attacker;
  readonly blocking: Blocking;
}

/** Block, or Unblock for a block by a person. A lockout by failed logins can be extended. */
function BlockButton({ row, blocking }: BlockButtonProps) {
  const [pending, setPending] = useState(false);
  const target = {
    name: row.address,
    visitorId: row.visitor_id,
    block: row.block,
    ...(row.addresses > 1 && { attacking: row.addresses }),
  };
  const isBlocked = row.block !== null && row.block.by !== 'lock';

  async function unblock(): Promise<void> {
    const element = document.activeElement?.closest('tr, li') ?? null;
    setPending(true);
    await blocking.showFailure(blocking.unblock(target, element));
    setPending(false);
  }

  return (
    <BlockToggle
      name={row.address}
      isBlocked={isBlocked}
      disabled={row.do_not_block === 1 && !isBlocked}
      pending={pending}
      onUnblock={() => void unblock()}
      onBlock={(anchor) => blocking.choose(target, anchor)}
    />
  );
}

interface BlockToggleProps {
  readonly name: string;
  readonly isBlocked: boolean;
  readonly disabled: boolean;
  readonly pending: boolean;
  readonly onBlock: (anchor: HTMLElement) => void;
  readonly onUnblock: () => void;
}

/** One button for both, so that it keeps the focus. */
function BlockToggle({ name, isBlocked, disabled, pending, onBlock, onUnblock }: BlockToggleProps) {
  return (
    <button
      type="button"
      className={classes('so-btn so-btn--sm', pending && 'is-busy')}
      disabled={disabled}
      aria-disabled={pending || undefined}
      aria-haspopup={isBlocked ? undefined : 'dialog'}
      aria-label={sprintf(
        isBlocked
          ? /* translators: %s: an IP address or a user's name */ __('Unblock %s', 'security-optimizer')
          : /* translators: %s: an address or a network */ __('Block %s', 'security-optimizer'),
        name,
      )}
      onClick={({ currentTarget }) => {
        if (pending) return;
        if (isBlocked) onUnblock();
        else onBlock(currentTarget);
      }}
    >
      {pending ? <span className="so-spin" /> : null}
      {pending
        ? __('Unblocking…', 'security-optimizer')
        : isBlocked
          ? __('Unblock', 'security-optimizer')
          : __('Block', 'security-optimizer')}
    </button>
  );
}

export interface AttackersListProps {
  readonly blocking: Blocking;
  readonly rows: readonly Attacker[];
}

/** The small panel of the Security Dashboard: addresses link to the filtered log. */
export function AttackersList({ rows, blocking }: AttackersListProps) {
  const { config } = useSite();
  const link = (address: string): Partial<LogView> => ({ filters: { ip: address } });
  return (
    <ul className="so-foelist">
      {rows.map((row) => (
        <li key={row.address} className={row.block === null ? undefined : 'is-blocked'}>
          <span className="so-foe">
            {config.logPageUrl === '' ? (
              <span className="so-mono" dir="ltr">
                {row.address}
              </span>
            ) : (
              <a
                className="so-link so-mono"
                dir="ltr"
                href={toLogHref(config.logPageUrl, link(row.address))}
                /* translators: %s: an address or a network */
                aria-label={sprintf(__('Show only %s', 'security-optimizer'), row.address)}
              >
                {row.address}
              </a>
            )}
            {row.block === null && row.do_not_block === 0 ? (
              <small>{goalText(row.goal)}</small>
            ) : (
              <AttackerState row={row} />
            )}
          </span>
          <Days row={row} />
          <span className="so-foelist__num so-num">
            {attemptsText(row.attempts)[0]}
            <b>{formatNumber(row.attempts)}</b>
            {attemptsText(row.attempts)[1]}
          </span>
          <BlockButton row={row} blocking={blocking} />
        </li>
      ))}
    </ul>
  );
}

export interface AttackersPanelProps {
  readonly applied: AppliedFilters;
  readonly onApply: (applied: AppliedFilters) => void;
  readonly blocking: Blocking;
}

/** Returns the text before and after a number of attempts: refused requests, failed logins and scans. */
export function attemptsText(count: number): readonly [before: string, after: string] {
  /* translators: %s: number of refused requests, failed logins and scans of an address */
  const [before = '', after = ''] = _n('%s attempt', '%s attempts', count, 'security-optimizer').split('%s');
  return [before, after];
}
