import type { Attacker, Attackers } from '@security-optimizer/contract/activity/attackers';
import { toLogHref } from '@security-optimizer/contract/activity/log-address';
import { type ReactNode, useId, useState } from 'react';
import { useSite } from '../../api/site-context.js';
import { LoadFailed } from '../../forms/request-failed.js';
import { formatNumber } from '../../i18n/locale.js';
import { __, _n, sprintf } from '../../i18n/translate.js';
import { classes } from '../../ui/dom.js';
import { IconTile } from '../../ui/icon.js';
import { findChoice, withGoal } from './applied-filters.js';
import { type AttackersPanelProps, AttackersTable, attemptsText } from './attackers-table.js';
import { useBlocks } from './blocks.js';
import { goalText } from './reasons.js';
import { ATTACK_DAYS, useAttackers, withBlocks } from './use-attackers.js';

/**
 * Who is attacking: the most active addresses and networks with their goal, and Block in each row. Each part filters.
 */
export default function AttackersPanel({ applied, onApply, blocking }: AttackersPanelProps) {
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
                        formatNumber(attackers.addresses),
                      )}
                </button>
              </p>
            ) : null}
          </div>
          <div className="so-foes__side">
            <Rank
              title={__('Top targets', 'security-optimizer')}
              items={attackers.targets.map(({ target, attempts }) => ({
                id: target,
                text: (
                  <span className="so-mono" title={target}>
                    <bdi dir="ltr">{target}</bdi>
                  </span>
                ),
                attempts,
                on: applied.search === target,
                onToggle: (on) => onApply({ ...applied, search: on ? target : '' }),
              }))}
            />
            <Rank
              title={__('Top reasons', 'security-optimizer')}
              items={attackers.goals.map(({ goal, attempts }) => ({
                id: goal,
                text: <span>{goalText(goal)}</span>,
                attempts,
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

/**
 * "318 requests blocked in 7 days, from 31 addresses.", or with failed logins or scans, which were not all blocked, "37
 * attempts in 7 days, from 5 addresses. Failed logins: 21 attempts from 3 addresses, 3 locked.", as in the weekly mail.
 */
function Sum({ attackers }: { readonly attackers: Attackers }) {
  const { attempts, failed, scanned, addresses, failed_addresses: failedAddresses, locked } = attackers;
  const sum = sprintf(
    /* translators: 1: "318 requests blocked" or "37 attempts", 2: number of days, 3: "31 addresses" */
    _n('%1$s in %2$d day, from %3$s.', '%1$s in %2$d days, from %3$s.', ATTACK_DAYS, 'security-optimizer'),
    failed > 0 || scanned > 0
      ? toAttempts(attempts)
      : sprintf(
          /* translators: %s: number of requests */
          _n('%s request blocked', '%s requests blocked', attempts, 'security-optimizer'),
          formatNumber(attempts),
        ),
    ATTACK_DAYS,
    addressesText(addresses),
  );
  return (
    <p className="so-num">
      {sum}
      {failed > 0 ? ` ${failedLoginsText(failed, failedAddresses, locked)}` : null}
    </p>
  );
}

function failedLoginsText(failed: number, addresses: number, locked: number): string {
  const from = addressesText(addresses);
  return locked > 0
    ? sprintf(
        /* translators: 1: "21 attempts", 2: "3 addresses", 3: number of locked addresses */
        __('Failed logins: %1$s from %2$s, %3$s locked.', 'security-optimizer'),
        ...([toAttempts(failed), from, formatNumber(locked)] as const),
      )
    : /* translators: 1: "21 attempts", 2: "3 addresses" */
      sprintf(__('Failed logins: %1$s from %2$s.', 'security-optimizer'), toAttempts(failed), from);
}

function toAttempts(count: number): string {
  return attemptsText(count).join(formatNumber(count));
}

function addressesText(count: number): string {
  /* translators: %s: number of addresses */
  return sprintf(_n('%s address', '%s addresses', count, 'security-optimizer'), formatNumber(count));
}

/**
 * Whether attackers have logged in; hidden while unknown. A user who mistypes and then logs in is not an alarm.
 */
export function LoginsPill({ attackers: { logins, mistyped } }: { readonly attackers: Attackers }) {
  const { config } = useSite();
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
            formatNumber(suspicious),
          )
        : sprintf(
            /* translators: %s: number of logins */
            _n('%s login after a failed attempt', '%s logins after failed attempts', logins, 'security-optimizer'),
            formatNumber(logins),
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

interface RankItem {
  readonly id: string;
  readonly text: ReactNode;
  readonly attempts: number;
  readonly on: boolean;
  readonly onToggle: (on: boolean) => void;
}

/** Bars that are buttons; a click filters the log below. */
function Rank({ title, items }: { readonly title: string; readonly items: readonly RankItem[] }) {
  if (items.length === 0) return null;
  const max = Math.max(1, ...items.map(({ attempts }) => attempts));
  return (
    <div className="so-rank">
      <h3>{title}</h3>
      <ul>
        {items.map(({ id, text, attempts, on, onToggle }) => (
          <li key={id}>
            <button type="button" aria-pressed={on} className={on ? 'is-on' : undefined} onClick={() => onToggle(!on)}>
              <i style={{ width: `${Math.round((attempts / max) * 100)}%` }} />
              {text}
              <b className="so-num">
                <span className="so-vh">{attemptsText(attempts)[0]}</span>
                {formatNumber(attempts)}
                <span className="so-vh">{attemptsText(attempts)[1]}</span>
              </b>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

const SKELETON_ROWS = [1, 2, 3, 4, 5];

/** Five rows while the attackers load. */
function AttackersSkeleton() {
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
