import { type AlertChannel, alertChannels, QUIET_FROM, QUIET_TO } from '@security-optimizer/contract/alerts/catalogue';
import { testAlerts } from '@security-optimizer/contract/alerts/endpoints';
import type { Alerts, LastDelivery } from '@security-optimizer/contract/alerts/schemas';
import { alertRows, type SettingRow as Setting } from '@security-optimizer/contract/settings/catalogue';
import { type ReactNode, useId, useState } from 'react';
import { toCall } from '../../api/client.js';
import { useSubmit } from '../../forms/use-submit.js';
import { getDateFormats } from '../../i18n/date-formats.js';
import { timeOfDay } from '../../i18n/days.js';
import { __, _n, sprintf, translate } from '../../i18n/translate.js';
import { Button } from '../../ui/button.js';
import { Icon } from '../../ui/icon.js';
import { Note } from '../../ui/inline-messages.js';
import { SettingRow } from '../../ui/setting-row.js';
import { SettingRows } from '../settings/setting-controls.js';
import { SettingsSection } from '../settings/settings-section.js';
import { SlackDialog, SyslogDialog, WebhookDialog } from './alert-dialogs.js';
import { type AlertsState, alertSettings, alertsFailedText, listKinds } from './alerts.js';
import { LastDeliveryLines } from './last-delivery.js';

export interface AlertsSectionProps {
  readonly state: AlertsState;
  /** The Activity Log is off. */
  readonly logIsOff: boolean;
}

/** Alerts: kinds, channels with their tests, limit and quiet hours. */
export function AlertsSection({ state, logIsOff }: AlertsSectionProps) {
  const mail = useTest('mail', state);
  return (
    <SettingsSection
      title={__('Alerts', 'security-optimizer')}
      settings={state.settings}
      rows={4}
      silent
      failedText={alertsFailedText()}
      side={() => <TestButton test={mail} name={__('Mail', 'security-optimizer')} />}
    >
      {(alerts) => (
        <>
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
        </>
      )}
    </SettingsSection>
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
        {listKinds(alerts.kinds).map(({ kind, icon, title, help }) => (
          <li key={kind}>
            <Icon name={icon} />
            <span>
              <b>{translate(title)}</b>
              <small>{translate(help)}</small>
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Webhook, Slack and system log, each with the result of its last delivery. */
export function Channels({ alerts, state }: { readonly alerts: Alerts; readonly state: AlertsState }) {
  const [open, setOpen] = useState<AlertChannel | null>(null);
  const { webhook, slack, syslog } = alerts;
  const dialog = { onStored: state.store, onClosed: () => setOpen(null) };
  const targets: Readonly<Record<AlertChannel, string | null>> = {
    webhook: webhook?.address ?? null,
    slack: slack?.address ?? null,
    syslog: syslog === null ? null : `${syslog.host}:${syslog.port} (${syslog.protocol.toUpperCase()})`,
  };
  return (
    <div className="so-card">
      {alertChannels.map(({ channel, icon, title, help }) => (
        <ChannelRow
          key={channel}
          channel={channel}
          icon={icon}
          title={translate(title)}
          help={translate(help)}
          target={targets[channel]}
          last={alerts[channel]?.last ?? null}
          state={state}
          onConfigure={() => setOpen(channel)}
        />
      ))}
      {open === 'webhook' ? <WebhookDialog webhook={webhook} {...dialog} /> : null}
      {open === 'slack' ? <SlackDialog slack={slack} {...dialog} /> : null}
      {open === 'syslog' ? <SyslogDialog syslog={syslog} {...dialog} /> : null}
    </div>
  );
}

interface ChannelRowProps {
  readonly channel: AlertChannel;
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
            <div role="status">
              <LastDeliveryLines last={last} />
            </div>
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
function useTest(channel: 'mail' | AlertChannel, state: AlertsState): TestState {
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
          // Some addresses may have got it although it failed for others.
          const sent =
            ok || data.sent > 0
              ? sprintf(
                  /* translators: %d: number of e-mail addresses */
                  _n('Sent to %d address.', 'Sent to %d addresses.', data.sent, 'security-optimizer'),
                  data.sent,
                )
              : '';
          setResult({ ok, text: `${sent} ${ok ? '' : translate(data.text)}`.trim() });
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
