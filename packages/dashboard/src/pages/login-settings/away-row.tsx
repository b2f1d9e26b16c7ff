import type { AwayState } from '@security-optimizer/contract/login';
import { useId } from 'react';
import { Button } from '../../components/button.js';
import { classes } from '../../components/classes.js';
import { SettingRow } from '../../components/setting-row.js';
import { useDateTexts } from '../../dates/use-date-texts.js';
import { __, sprintf } from '../../i18n/translate.js';
import { scheduleText } from './away-words.js';

/** Away Mode: what is scheduled, and when it next begins. */
export function AwayRow({ state, onConfigure }: { readonly state: AwayState; readonly onConfigure: () => void }) {
  const id = useId();
  const texts = useDateTexts();
  const status = statusOf(state);
  const title = __('Away Mode', 'security-optimizer');
  return (
    <SettingRow
      id={id}
      icon="moon"
      state={status.isOn ? 'on' : 'off'}
      title={title}
      help={
        state.schedule.type === 'off' ? (
          __(
            'Close the admin area while nobody works on the site: for some dates, on some weekdays or at night.',
            'security-optimizer',
          )
        ) : (
          <>
            {scheduleText(state.schedule, texts)} {momentText(state)}
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

function statusOf(state: AwayState): { word: string; kind: string | null; isOn: boolean } {
  if (state.away === 1) return { word: __('On', 'security-optimizer'), kind: 'so-pill--ok', isOn: true };
  if (state.schedule.type === 'off') return { word: __('Off', 'security-optimizer'), kind: null, isOn: false };
  return state.next_from === null
    ? { word: __('Over', 'security-optimizer'), kind: null, isOn: false }
    : { word: __('Scheduled', 'security-optimizer'), kind: 'so-pill--info', isOn: true };
}

function momentText({ away, until_text, next_from, next_from_text }: AwayState): string {
  if (away === 1) {
    return until_text === null
      ? __('It is on now.', 'security-optimizer')
      : /* translators: %s: day and time */
        sprintf(__('It is on until %s.', 'security-optimizer'), until_text);
  }
  return next_from === null || next_from_text === null
    ? __('These days are over.', 'security-optimizer')
    : /* translators: %s: day and time */
      sprintf(__('It next begins on %s.', 'security-optimizer'), next_from_text);
}
