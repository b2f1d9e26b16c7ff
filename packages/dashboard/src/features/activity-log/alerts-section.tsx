import { testAlerts } from '@security-optimizer/contract/alerts/endpoints';
import { type Alerts, type LastDelivery, QUIET_FROM, QUIET_TO } from '@security-optimizer/contract/alerts/schemas';
import { alertRows, type SettingRow as Setting } from '@security-optimizer/contract/settings/catalogue';
import { type ReactNode, useId, useState } from 'react';
import { toCall } from '../../api/client.js';
import { LoadFailed } from '../../forms/request-failed.js';
import { useSubmit } from '../../forms/use-submit.js';
import { getDateFormats } from '../../i18n/date-formats.js';
import { timeOfDay } from '../../i18n/days.js';
import { formatNumber } from '../../i18n/locale.js';
import { __, _n, sprintf, translate } from '../../i18n/translate.js';
import { Button } from '../../ui/button.js';
import { Icon } from '../../ui/icon.js';
import { Note } from '../../ui/inline-messages.js';
import { Section } from '../../ui/section.js';
import { SettingRow } from '../../ui/setting-row.js';
import { SettingRows } from '../settings/setting-controls.js';
import { SettingsSkeleton } from '../settings/settings-section.js';
import { SlackDialog, SyslogDialog, WebhookDialog } from './alert-dialogs.js';
import { type AlertsState, alertSettings, kindTexts } from './alerts.js';

export interface AlertsSectionProps {
  readonly state: AlertsState;
  /** The Activity Log is off. */
  readonly logIsOff: boolean;
}

/** Alerts: kinds, channels with their tests, limit and quiet hours. */
export function AlertsSection({ state, logIsOff }: AlertsSectionProps) {
  const title = __('Alerts', 'security-optimizer');
  const { alerts } = state;
  const mail = useTest('mail', state);
  if (alerts === null) {
    return state.failure === null ? (
      <Section title={title} busy>
        <SettingsSkeleton rows={4} silent />
      </Section>
    ) : (
      <Section title={title}>
        <div className="so-card so-card__body">
          <LoadFailed
            text={__('We couldn’t load the alerts.', 'security-optimizer')}
            failure={state.failure}
            retrying={state.retrying}
            onRetry={state.reload}
          />
        </div>
      </Section>
    );
  }
  return (
    <Section title={title} side={<TestButton test={mail} name={__('Mail', 'security-optimizer')} />}>
      <TestResult result={mail.result} />
      {logIsOff ? (
        <div className="so-cardnote">
          <Note kind="warn">
            <p>
              <strong>{__('The activity log is off.', 'security-optimizer')}</strong>{' '}
              {__('Alerts about users, logins and plugins come once it is on.', 'security-optimizer')}
            </p>
          </Note>
        </div>
      ) : null}
      <KindList alerts={alerts} />
      <Channels alerts={alerts} state={state} />
      <div className="so-card">
        <SettingRows source={alertSettings} rows={toRows()} />
      </div>
    </Section>
  );
}

/** The rows, with the times in the format of the reader. */
function toRows(): readonly Setting[] {
  const time = (minutes: number) => getDateFormats().time(timeOfDay(minutes));
  const help = sprintf(
    /* translators: 1: time of day, 2: time of the next day */
    __('From %1$s to %2$s alerts wait until the morning. A new administrator is told at once.', 'security-optimizer'),
    time(QUIET_FROM),
    time(QUIET_TO),
  );
  return alertRows.map((row) => (row.help === '' ? { ...row, help } : row));
}

export function KindList({ alerts }: { readonly alerts: Alerts }) {
  return (
    <div className="so-card">
      <div className="so-card__head so-card__head--flush">
        <div>
          <h2>{__('What an alert is sent for', 'security-optimizer')}</h2>
          <p>{__('Choose per recipient which ones they get.', 'security-optimizer')}</p>
        </div>
      </div>
      <ul className="so-events">
        {alerts.kinds.map((kind) => {
          const { icon, title, help } = kindTexts(kind);
          return (
            <li key={kind}>
              <Icon name={icon} />
              <span>
                <b>{title}</b>
                <small>{help}</small>
              </span>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

type Channel = 'webhook' | 'slack' | 'syslog';

/** Webhook, Slack and system log, each with the result of its last delivery. */
export function Channels({ alerts, state }: { readonly alerts: Alerts; readonly state: AlertsState }) {
  const [open, setOpen] = useState<Channel | null>(null);
  const { webhook, slack, syslog } = alerts;
  const dialog = { onStored: state.store, onClosed: () => setOpen(null) };
  return (
    <div className="so-card">
      <ChannelRow
        channel="webhook"
        icon="link"
        title={__('Webhook', 'security-optimizer')}
        help={__('Sends each alert as signed JSON to a service of yours.', 'security-optimizer')}
        target={webhook?.address ?? null}
        last={webhook?.last ?? null}
        state={state}
        onConfigure={() => setOpen('webhook')}
      />
      <ChannelRow
        channel="slack"
        icon="bell"
        title={__('Slack', 'security-optimizer')}
        help={__(
          'Posts each alert to a channel. Also works with services that take the same format.',
          'security-optimizer',
        )}
        target={slack?.address ?? null}
        last={slack?.last ?? null}
        state={state}
        onConfigure={() => setOpen('slack')}
      />
      <ChannelRow
        channel="syslog"
        icon="code"
        title={__('System log', 'security-optimizer')}
        help={__('Writes each alert to the log of the server, for your host.', 'security-optimizer')}
        target={syslog === null ? null : `${syslog.host}:${syslog.port} (${syslog.protocol.toUpperCase()})`}
        last={syslog?.last ?? null}
        state={state}
        onConfigure={() => setOpen('syslog')}
      />
      {open === 'webhook' ? <WebhookDialog webhook={webhook} {...dialog} /> : null}
      {open === 'slack' ? <SlackDialog slack={slack} {...dialog} /> : null}
      {open === 'syslog' ? <SyslogDialog syslog={syslog} {...dialog} /> : null}
    </div>
  );
}

interface ChannelRowProps {
  readonly channel: Channel;
  readonly icon: string;
  readonly title: string;
  readonly help: string;
  /** The destination; null while it is off. */
  readonly target: string | null;
  readonly last: LastDelivery | null;
  readonly state: AlertsState;
  readonly onConfigure: () => void;
}

function ChannelRow({ channel, icon, title, help, target, last, state, onConfigure }: ChannelRowProps) {
  const id = useId();
  const test = useTest(channel, state);
  const configure = __('Configure', 'security-optimizer');
  return (
    <SettingRow
      id={id}
      icon={icon}
      state={target === null ? 'off' : 'on'}
      title={title}
      help={help}
      note={
        target === null ? undefined : (
          <div className="so-target">
            <span className="so-mono" dir="ltr">
              {target}
            </span>
            <LastDeliveryLine last={last} />
          </div>
        )
      }
    >
      {target === null ? (
        <span className="so-pill">{__('Off', 'security-optimizer')}</span>
      ) : (
        <TestButton test={test} name={title} />
      )}
      {/* translators: 1: a verb on a button, 2: what it is about */}
      <Button aria-label={sprintf(__('%1$s: %2$s', 'security-optimizer'), configure, title)} onClick={onConfigure}>
        {configure}
      </Button>
    </SettingRow>
  );
}

/** The result of a channel's last delivery, and the number of waiting alerts. */
function LastDeliveryLine({ last }: { readonly last: LastDelivery | null }) {
  const formats = getDateFormats();
  if (last === null) return <span>{__('Nothing was sent yet.', 'security-optimizer')}</span>;
  const [day = '', time = ''] = last.at.split(' ');
  const when = sprintf(
    /* translators: 1: a day, 2: a time */
    __('%1$s, %2$s', 'security-optimizer'),
    formats.shortDate(day),
    formats.time(time),
  );
  const message = translate(last.text);
  return (
    <span className={last.ok === 1 ? undefined : 'is-bad'}>
      <Icon name={last.ok === 1 ? 'check-circle' : 'alert'} size={16} />
      {last.ok === 1
        ? /* translators: 1: day and time, 2: an answer */
          sprintf(__('Last answer %1$s: %2$s', 'security-optimizer'), when, message)
        : /* translators: 1: day and time, 2: an answer or a reason */
          sprintf(__('It failed %1$s: %2$s', 'security-optimizer'), when, message)}
      {last.waiting > 0
        ? ` ${sprintf(
            /* translators: %s: number of alerts */
            _n('%s alert waits.', '%s alerts wait.', last.waiting, 'security-optimizer'),
            formatNumber(last.waiting),
          )}`
        : ''}
    </span>
  );
}

interface TestState {
  readonly pending: boolean;
  readonly result: { readonly ok: boolean; readonly text: string } | null;
  readonly send: () => void;
}

interface TestResponse {
  readonly ok: 0 | 1;
  readonly sent: number;
  readonly text: string;
  readonly alerts: unknown;
}

/** Sends a test by one channel; the row shows the result. */
function useTest(channel: 'mail' | Channel, state: AlertsState): TestState {
  const { pending, save } = useSubmit();
  const [result, setResult] = useState<TestState['result']>(null);
  return {
    pending,
    result,
    send() {
      if (pending) return;
      setResult(null);
      save<TestResponse | null>({
        call: toCall(testAlerts, { channel }),
        onSuccess: (data) => {
          if (data === null) return;
          state.store(data.alerts);
          const ok = data.ok === 1;
          const text = ok
            ? sprintf(
                /* translators: %d: number of e-mail addresses */
                _n('Sent to %d address.', 'Sent to %d addresses.', data.sent, 'security-optimizer'),
                data.sent,
              )
            : translate(data.text);
          setResult({ ok, text });
        },
      });
    },
  };
}

function TestButton({ test, name }: { readonly test: TestState; readonly name: string }): ReactNode {
  const text = __('Send a test', 'security-optimizer');
  return (
    <Button
      /* translators: 1: a verb on a button, 2: what it is about */
      {...(test.pending ? {} : { 'aria-label': sprintf(__('%1$s: %2$s', 'security-optimizer'), text, name) })}
      pendingText={test.pending ? __('Sending…', 'security-optimizer') : undefined}
      onClick={test.send}
    >
      {text}
    </Button>
  );
}

/** The result of a test by mail. Other channels show theirs as the last delivery. */
function TestResult({ result }: { readonly result: TestState['result'] }): ReactNode {
  return (
    <div role="status">
      {result === null ? null : (
        <div className="so-cardnote">
          <Note kind={result.ok ? 'info' : 'bad'}>
            <p>{result.text}</p>
          </Note>
        </div>
      )}
    </div>
  );
}
