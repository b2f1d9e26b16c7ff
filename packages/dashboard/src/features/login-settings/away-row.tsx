import type { AwayState } from '@security-optimizer/contract/login/schemas';
import { useId } from 'react';
import { type DateFormats, getDateFormats } from '../../i18n/date-formats.js';
import { __, sprintf } from '../../i18n/translate.js';
import { Button } from '../../ui/button.js';
import { classes } from '../../ui/dom.js';
import { SettingRow } from '../../ui/setting-row.js';
import { dateTimeText } from '../settings/site-clock.js';
import { scheduleText } from './away-schedule.js';

/** Away Mode: the schedule and its next start. */
export function AwayRow({ state, onConfigure }: { readonly state: AwayState; readonly onConfigure: () => void }) {
  const id = useId();
  const formats = getDateFormats();
  const status = getStatus(state);
  const title = __('Away Mode', 'security-optimizer');
  return (
    <SettingRow
      id={id}
      icon="moon"
      state={status.isOn ? 'on' : 'off'}
      title={title}
      help={
        state.schedule.type === 'off' ? (
          <>
            {__(
              'Close the admin area while nobody works on the site: for some dates, on some weekdays or at night.',
              'security-optimizer',
            )}{' '}
            {__('Customers who are logged in already can still buy.', 'security-optimizer')}
          </>
        ) : (
          <>
            {scheduleText(state.schedule, formats)} {momentText(state, formats)}
          </>
        )
      }
    >
      <span className={classes('so-pill', status.kind)}>{status.word}</span>
      {/* translators: %s: name of a setting */}
      <Button onClick={onConfigure} aria-label={sprintf(__('Configure: %s', 'security-optimizer'), title)}>
        {__('Configure', 'security-optimizer')}
      </Button>
    </SettingRow>
  );
}

function getStatus(state: AwayState): { word: string; kind: string | null; isOn: boolean } {
  if (state.away === 1) return { word: __('On', 'security-optimizer'), kind: 'so-pill--ok', isOn: true };
  if (state.schedule.type === 'off') return { word: __('Off', 'security-optimizer'), kind: null, isOn: false };
  return state.next_from === null
    ? { word: __('Over', 'security-optimizer'), kind: null, isOn: false }
    : { word: __('Scheduled', 'security-optimizer'), kind: 'so-pill--info', isOn: true };
}

function momentText({ away, until, next_from, timezone }: AwayState, formats: DateFormats): string {
  const moment = (seconds: number): string => dateTimeText(seconds, { formats, zone: timezone }, 'fullDay');
  if (away === 1) {
    return until === null
      ? __('It is on now.', 'security-optimizer')
      : /* translators: %s: day and time */
        sprintf(__('It is on until %s.', 'security-optimizer'), moment(until));
  }
  return next_from === null
    ? __('These days are over.', 'security-optimizer')
    : /* translators: %s: day and time */
      sprintf(__('It next begins on %s.', 'security-optimizer'), moment(next_from));
}
