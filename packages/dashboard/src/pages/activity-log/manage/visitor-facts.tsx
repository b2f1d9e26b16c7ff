import { sayRole } from '@security-optimizer/contract/event-values';
import { siteNow, timeOfDay } from '../../../dates/site-now.js';
import { useDateTexts } from '../../../dates/use-date-texts.js';
import { useSiteZone } from '../../../dates/use-site-zone.js';
import { formatNumber } from '../../../i18n/format-number.js';
import { __, sprintf, translate } from '../../../i18n/translate.js';
import { Icon } from '../../../icons/icon.js';
import { useServices } from '../../../services.js';
import type { VisitorStatus } from './read-status.js';
import { Sparkline } from './sparkline.js';

interface SubjectProps {
  readonly name: string;
  readonly isUser: boolean;
}

/** Who it is, and whether they are blocked. */
export function VisitorSubject({ name, isUser, status }: SubjectProps & { readonly status: VisitorStatus }) {
  const isBlocked = status.block === 1;
  return (
    <div className="so-subject">
      <span className={`so-tile so-tile--48${isBlocked ? ' is-danger' : ''}`}>
        <Icon name={isUser ? 'user' : 'globe'} />
      </span>
      <div className="so-subject__text">
        <b className={isUser ? undefined : 'so-mono'} dir={isUser ? 'auto' : 'ltr'}>
          {name}
        </b>
        {isUser ? null : (
          <small>{status.hostname === '' ? __('No host name', 'security-optimizer') : status.hostname}</small>
        )}
      </div>
      <span className={isBlocked ? 'so-pill so-pill--bad' : 'so-pill'}>
        <i />
        {isBlocked ? __('Blocked', 'security-optimizer') : __('Not blocked', 'security-optimizer')}
      </span>
    </div>
  );
}

/** What is known beyond that; nothing at all when nothing is. */
export function VisitorFacts({ status, isUser }: { readonly status: VisitorStatus; readonly isUser: boolean }) {
  const { config } = useServices();
  const texts = useDateTexts();
  const zone = useSiteZone();
  const today = siteNow(zone, Date.now()).day;
  const { visitsToday, visitsHours, firstSeen, lastSeen, roles } = status;

  function moment(seconds: number): string {
    const { day, minutes } = siteNow(zone, seconds * 1000);
    const time = texts.time(timeOfDay(minutes));
    /* translators: %s: time of the day */
    return day === today ? sprintf(__('Today, %s', 'security-optimizer'), time) : `${texts.shortDay(day)}, ${time}`;
  }

  const facts = [
    {
      name: __('Role', 'security-optimizer'),
      value: isUser && roles.length > 0 ? roles.map((role) => sayRole(role, translate)).join(', ') : null,
    },
    {
      name: __('Visits, last 24 hours', 'security-optimizer'),
      value:
        visitsToday === null ? null : (
          <span className="so-sparkcell">
            <Sparkline values={visitsHours} />
            {formatNumber(visitsToday, config.localeSlug)}
          </span>
        ),
    },
    { name: __('First seen', 'security-optimizer'), value: firstSeen === null ? null : moment(firstSeen) },
    { name: __('Last seen', 'security-optimizer'), value: lastSeen === null ? null : moment(lastSeen) },
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

/** Stands there while the state is read. */
export function VisitorSkeleton({ name, isUser }: SubjectProps) {
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
