import type { SettingRow as Setting } from '@security-optimizer/contract/settings/catalogue';
import { type ReactNode, useId, useRef } from 'react';
import { __, _n, sprintf, translate } from '../../i18n/translate.js';
import type { TileState } from '../../ui/icon.js';
import { Select } from '../../ui/select.js';
import { SettingRow, ToggleRow } from '../../ui/setting-row.js';
import { type SettingControl, useSetting } from './change-setting.js';
import type { SettingsSource } from './settings-query.js';
import { notSavedText } from './settings-section.js';

export interface SettingRowsProps<Values extends object> {
  readonly source: SettingsSource<Values>;
  readonly rows: readonly Setting[];
  /** Rows with more than the catalogue has, by field. */
  readonly own?: Readonly<Record<string, ReactNode>>;
}

/** A row for each setting of the catalogue, in its order. Settings that the server does not know are omitted. */
export function SettingRows<Values extends object>({ source, rows, own = {} }: SettingRowsProps<Values>) {
  return rows.map((setting) =>
    setting.field in own ? own[setting.field] : <UsualRow key={setting.field} source={source} setting={setting} />,
  );
}

function UsualRow<Values extends object>(props: {
  readonly source: SettingsSource<Values>;
  readonly setting: Setting;
}) {
  const control = useSetting(props.source, props.setting);
  return control.choices.length > 0 ? <SettingSelect control={control} /> : <SettingSwitch control={control} />;
}

interface ControlProps {
  readonly control: SettingControl;
  /** Default: the text of the catalogue. */
  readonly help?: ReactNode;
  /** State of the tile. Default: whether it is on. */
  readonly tile?: TileState | undefined;
  /** Shown below the help, see `SettingRow`. */
  readonly value?: ReactNode;
  readonly disabled?: boolean;
}

export interface SettingSwitchProps extends ControlProps {
  /** Asks before a change. Returns whether it does. */
  readonly ask?: (wanted: 0 | 1) => boolean;
}

/** The row of a setting that is on or off. */
export function SettingSwitch({ control, help, tile, value, disabled = false, ask }: SettingSwitchProps) {
  const { setting, stored, shown, failed } = control;
  const { icon, title, anchor, essential = false, inverted = false } = setting;
  const isOn = (flag: number): boolean => (flag === 1) !== inverted;
  if (stored === undefined) return null;

  function change(wanted: number): void {
    if (!ask?.(wanted === 1 ? 1 : 0)) control.set(wanted);
  }

  return (
    <ToggleRow
      {...(anchor !== undefined && { anchor })}
      icon={icon}
      title={translate(title)}
      help={help ?? translate(setting.help)}
      on={isOn(shown)}
      pending={control.pending}
      recommended={essential && !isOn(shown)}
      disabled={disabled}
      tile={tile}
      value={value}
      error={failed === null ? undefined : notSavedText(isOn(stored) ? 1 : 0)}
      onToggle={() => change(shown === 1 ? 0 : 1)}
      onRetry={() => change(failed ?? shown)}
    />
  );
}

export interface SettingSelectProps extends ControlProps {
  /** A consequence of the value. */
  readonly note?: ReactNode;
  /** Asks before a change. Returns whether it does. */
  readonly ask?: (wanted: number) => boolean;
  /** Moves the focus to the list. */
  readonly focus?: { current: HTMLButtonElement | null };
}

/** The row of a setting with a list of choices; 0 means off. */
export function SettingSelect(props: SettingSelectProps) {
  const { control, help, tile, value, disabled = false, note, ask } = props;
  const { setting, stored, shown, failed, pending, choices } = control;
  const { icon, anchor, essential = false, unit } = setting;
  const id = useId();
  const ownFocus = useRef<HTMLButtonElement>(null);
  const select = props.focus ?? ownFocus;
  const title = translate(setting.title);
  const isRecommended = essential && shown === 0;
  if (stored === undefined) return null;

  function retry(): void {
    // The retry button disappears with the message.
    select.current?.focus();
    if (failed !== null) control.set(failed);
  }

  return (
    <SettingRow
      id={id}
      anchor={anchor}
      icon={icon}
      state={tile ?? (shown > 0 ? 'on' : 'off')}
      title={title}
      help={help ?? translate(setting.help)}
      recommended={isRecommended}
      pending={pending}
      value={value}
      note={note}
      error={failed === null ? undefined : translate(setting.notSaved ?? '') || notSavedText(stored > 0 ? 1 : 0)}
      onRetry={retry}
    >
      {pending ? (
        <span className="so-row__value">
          <span className="so-spin" /> {__('Saving…', 'security-optimizer')}
        </span>
      ) : null}
      <Select
        ref={select}
        auto
        label={title}
        aria-describedby={isRecommended ? `${id}-tag ${id}-help` : `${id}-help`}
        pending={pending}
        disabled={disabled}
        value={shown}
        options={choices.map((choice) => ({ value: choice.value, text: choiceText(choice, unit) }))}
        onChange={(wanted) => {
          if (!ask?.(wanted)) control.set(wanted);
        }}
      />
    </SettingRow>
  );
}

/** Text of a choice: a number with its unit, or the server's label. */
function choiceText({ value, label }: SettingControl['choices'][number], unit: Setting['unit']): string {
  switch (unit) {
    case 'days':
      /* translators: %d: number of days */
      return sprintf(_n('%d day', '%d days', value, 'security-optimizer'), value);
    case 'attempts':
      // Other labels of the server, for example "OFF", are kept.
      if (label !== String(value)) return translate(label);
      /* translators: %d: number of wrong passwords */
      return sprintf(_n('%d attempt', '%d attempts', value, 'security-optimizer'), value);
    case 'an hour':
      /* translators: %d: a number */
      return sprintf(_n('%d an hour', '%d an hour', value, 'security-optimizer'), value);
    default:
      return translate(label);
  }
}
