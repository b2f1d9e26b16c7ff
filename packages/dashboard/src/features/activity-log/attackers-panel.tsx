import type { Attacker, Attackers } from '@security-optimizer/contract/activity/attackers';
import type { LogView } from '@security-optimizer/contract/activity/log-address';
import { toLogHref } from '@security-optimizer/contract/activity/log-address';
import { type ReactNode, useId, useState } from 'react';
import { useSiteZone } from '../../api/options.js';
import { useDateTexts, useServices } from '../../api/services.js';
import { LoadFailed } from '../../forms/load-states.js';
import { formatNumber } from '../../i18n/locale.js';
import { __, _n, sprintf } from '../../i18n/translate.js';
import { classes } from '../../ui/dom.js';
import { Icon, IconTile } from '../../ui/icon.js';
import { type AppliedFilters, findChoice, withGoal } from './applied-filters.js';
import { blockText, endText, useBlocks } from './blocks.js';
import { goalText } from './reasons.js';
import { ATTACK_DAYS, useAttackers, withBlocks } from './use-attackers.js';
import type { Blocking } from './use-blocking.js';

export interface AttackersPanelProps {
  readonly applied: AppliedFilters;
  readonly onApply: (applied: AppliedFilters) => void;
  readonly blocking: Blocking;
}

/**
 * Who is attacking: the most active addresses and networks with their goal, and Block in each row. Each part filters.
 */
export default function AttackersPanel({ applied, onApply, blocking }: AttackersPanelProps) {
  const { config } = useServices();
  const [all, setAll] = useState(false);
  const part = useAttackers(all);
  const findBlock = useBlocks();
  const id = useId();
  const { attackers, failure, missing } = part;
  if (missing) return null;

  const rows = withBlocks(part, findBlock);
  const isQuiet = attackers !== undefined && attackers.entries.length === 0;
  const more = attackers === undefined ? 0 : attackers.addresses - attackers.entries.reduce(countAddresses, 0);
  return (
    <section className={classes('so-card', 'so-attackers')} aria-labelledby={id}>
      <div className="so-card__head so-card__head--wrap">
        <div>
          <h2 id={id} tabIndex={-1}>
            {__('Who is attacking', 'security-optimizer')}
          </h2>
          {attackers === undefined || isQuiet ? null : <Sum attackers={attackers} />}
        </div>
        {attackers === undefined || isQuiet ? null : <LoginsPill attackers={attackers} />}
      </div>
      {failure !== null ? (
        <div className="so-card__body so-card__sep">
          <LoadFailed
            text={__('We couldn’t load who attacks.', 'security-optimizer')}
            failure={failure}
            retrying={part.retrying}
            onRetry={part.retry}
          />
        </div>
      ) : attackers === undefined ? (
        <AttackersSkeleton />
      ) : isQuiet ? (
        <NoAttackers />
      ) : (
        <div className="so-foes">
          <div className="so-foes__list">
            <AttackersTable rows={rows} applied={applied} onApply={onApply} blocking={blocking} />
            {more > 0 || all ? (
              <p className="so-foes__foot">
                <button type="button" className="so-link" aria-expanded={all} onClick={() => setAll(!all)}>
                  {all
                    ? __('Show fewer', 'security-optimizer')
                    : sprintf(
                        /* translators: %s: number of addresses */
                        _n('Show all %s address', 'Show all %s addresses', attackers.addresses, 'security-optimizer'),
                        formatNumber(attackers.addresses, config.localeSlug),
                      )}
                </button>
              </p>
            ) : null}
          </div>
          <div className="so-foes__side">
            <Rank
              title={__('Top targets', 'security-optimizer')}
              items={attackers.targets.map(({ target, blocked }) => ({
                id: target,
                text: (
                  <span className="so-mono" title={target}>
                    <bdi dir="ltr">{target}</bdi>
                  </span>
                ),
                blocked,
                on: applied.search === target,
                onToggle: (on) => onApply({ ...applied, search: on ? target : '' }),
              }))}
            />
            <Rank
              title={__('Top reasons', 'security-optimizer')}
              items={attackers.goals.map(({ goal, blocked }) => ({
                id: goal,
                text: <span>{goalText(goal)}</span>,
                blocked,
                on: findChoice(applied.choices, 'goal')?.value === goal,
                onToggle: (on) => onApply(withGoal(applied, on ? goal : null)),
              }))}
            />
          </div>
        </div>
      )}
    </section>
  );
}

function countAddresses(sum: number, { addresses }: Attacker): number {
  return sum + addresses;
}

/** "318 requests blocked and 41 failed logins in 7 days, from 31 addresses.": the numbers of the Security Dashboard. */
function Sum({ attackers: { blocked, failed, addresses } }: { readonly attackers: Attackers }) {
  const { config } = useServices();
  const number = (value: number): string => formatNumber(value, config.localeSlug);
  const refused = blocked - failed;
  /* translators: %s: number of requests */
  const requests = sprintf(
    _n('%s request blocked', '%s requests blocked', refused, 'security-optimizer'),
    number(refused),
  );
  /* translators: %s: number of wrong passwords */
  const logins = sprintf(_n('%s failed login', '%s failed logins', failed, 'security-optimizer'), number(failed));
  const both =
    failed === 0
      ? requests
      : refused === 0
        ? logins
        : /* translators: 1: "318 requests blocked", 2: "41 failed logins" */
          sprintf(__('%1$s and %2$s', 'security-optimizer'), requests, logins);
  const from = sprintf(
    /* translators: %s: number of addresses */
    _n('%s address', '%s addresses', addresses, 'security-optimizer'),
    number(addresses),
  );
  return (
    <p className="so-num">
      {sprintf(
        /* translators: 1: "318 requests blocked and 41 failed logins", 2: number of days, 3: "31 addresses" */
        _n('%1$s in %2$d day, from %3$s.', '%1$s in %2$d days, from %3$s.', ATTACK_DAYS, 'security-optimizer'),
        both,
        ATTACK_DAYS,
        from,
      )}
    </p>
  );
}

/**
 * Whether attackers have logged in; hidden while unknown. A user who mistypes and then logs in is not an alarm.
 */
export function LoginsPill({ attackers: { logins, mistyped } }: { readonly attackers: Attackers }) {
  const { config } = useServices();
  if (logins === null) return null;
  if (logins === 0) {
    return (
      <span className="so-pill so-pill--ok">
        <i />
        {__('None of them logged in', 'security-optimizer')}
      </span>
    );
  }
  const suspicious = logins - (mistyped ?? 0);
  const text = (
    <>
      <i />
      {suspicious > 0
        ? sprintf(
            /* translators: %s: number of logins */
            _n('%s login succeeded', '%s logins succeeded', suspicious, 'security-optimizer'),
            formatNumber(suspicious, config.localeSlug),
          )
        : sprintf(
            /* translators: %s: number of logins */
            _n('%s login after a failed attempt', '%s logins after failed attempts', logins, 'security-optimizer'),
            formatNumber(logins, config.localeSlug),
          )}
    </>
  );
  const className = classes('so-pill', suspicious > 0 && 'so-pill--bad');
  if (config.logPageUrl === '') return <span className={className}>{text}</span>;
  return (
    <a className={className} href={toLogHref(config.logPageUrl, { tab: 'registered', filters: { activity: 'login' } })}>
      {text}
    </a>
  );
}

function NoAttackers() {
  return (
    <div className="so-foes__none so-card__sep">
      <IconTile name="check" state="on" />
      <p>
        {sprintf(
          /* translators: %d: number of days */
          _n('Nobody was blocked in %d day.', 'Nobody was blocked in %d days.', ATTACK_DAYS, 'security-optimizer'),
          ATTACK_DAYS,
        )}
      </p>
    </div>
  );
}

/** On phones CSS turns the table into cards; see ui/table.tsx. */
const CELL = { role: 'cell' } as const;

interface AttackersTableProps extends AttackersPanelProps {
  readonly rows: readonly Attacker[];
}

function AttackersTable({ rows, applied, onApply, blocking }: AttackersTableProps) {
  const { config } = useServices();
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
              <b>{formatNumber(row.blocked, config.localeSlug)}</b>
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
  const clock = { texts: useDateTexts(), zone: useSiteZone() };
  const { config } = useServices();
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
  if (row.addresses > 1) {
    return (
      <small className="so-num">
        {sprintf(
          /* translators: %s: number of addresses */
          _n('%s address of one network', '%s addresses of one network', row.addresses, 'security-optimizer'),
          formatNumber(row.addresses, config.localeSlug),
        )}
      </small>
    );
  }
  if (row.hostname === '') return <small>{__('No host name', 'security-optimizer')}</small>;
  return <small title={row.hostname}>{row.hostname}</small>;
}

/** Refused requests of each day, oldest first. */
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

interface RankItem {
  readonly id: string;
  readonly text: ReactNode;
  readonly blocked: number;
  readonly on: boolean;
  readonly onToggle: (on: boolean) => void;
}

/** Bars that are buttons; a click filters the log below. */
function Rank({ title, items }: { readonly title: string; readonly items: readonly RankItem[] }) {
  const { config } = useServices();
  if (items.length === 0) return null;
  const max = Math.max(1, ...items.map(({ blocked }) => blocked));
  return (
    <div className="so-rank">
      <h3>{title}</h3>
      <ul>
        {items.map(({ id, text, blocked, on, onToggle }) => (
          <li key={id}>
            <button type="button" aria-pressed={on} className={on ? 'is-on' : undefined} onClick={() => onToggle(!on)}>
              <i style={{ width: `${Math.round((blocked / max) * 100)}%` }} />
              {text}
              <b className="so-num">
                <span className="so-vh">{attemptsText(blocked)[0]}</span>
                {formatNumber(blocked, config.localeSlug)}
                <span className="so-vh">{attemptsText(blocked)[1]}</span>
              </b>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Returns the text before and after a number of attempts: refused requests and failed logins. */
function attemptsText(count: number): readonly [before: string, after: string] {
  /* translators: %s: number of refused requests and failed logins of an address */
  const [before = '', after = ''] = _n('%s attempt', '%s attempts', count, 'security-optimizer').split('%s');
  return [before, after];
}

const SKELETON_ROWS = [1, 2, 3, 4, 5];

/** Five rows while the attackers load. */
export function AttackersSkeleton() {
  return (
    <div className="so-foes so-foes--sk" aria-busy="true">
      <span className="so-vh" role="status">
        {__('Loading', 'security-optimizer')}
      </span>
      <div className="so-foes__list" aria-hidden="true">
        {SKELETON_ROWS.map((row) => (
          <div key={row}>
            <span className="so-sk" />
            <span className="so-sk" />
          </div>
        ))}
      </div>
      <div className="so-foes__side" aria-hidden="true">
        {SKELETON_ROWS.map((row) => (
          <span key={row} className="so-sk" />
        ))}
      </div>
    </div>
  );
}

export interface AttackersListProps {
  readonly blocking: Blocking;
  readonly rows: readonly Attacker[];
}

/** The small panel of the Security Dashboard: addresses link to the filtered log. */
export function AttackersList({ rows, blocking }: AttackersListProps) {
  const { config } = useServices();
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
            {row.block === null && row.own === 0 ? <small>{goalText(row.goal)}</small> : <AttackerState row={row} />}
          </span>
          <Days row={row} />
          <span className="so-foelist__num so-num">
            {attemptsText(row.blocked)[0]}
            <b>{formatNumber(row.blocked, config.localeSlug)}</b>
            {attemptsText(row.blocked)[1]}
          </span>
          <BlockButton row={row} blocking={blocking} />
        </li>
      ))}
    </ul>
  );
}
