import { toPlainText } from '@security-optimizer/contract/typed-text';
import type { ReactElement } from 'react';
import { ApiError } from '../../src/api/envelope.js';
import { SettingsSection, SettingsSkeleton } from '../../src/features/settings/settings-section.js';
import { Button, type ButtonProps, IconButton } from '../../src/ui/button.js';
import { Checkbox } from '../../src/ui/checkbox.js';
import { ChipInput, type ChipInputProps } from '../../src/ui/chip-input.js';
import { CopyButton, CopyTextButton } from '../../src/ui/copy.js';
import { AffixInput, Field, type FieldProps, TextInput } from '../../src/ui/field.js';
import { Icon } from '../../src/ui/icon.js';
import { ErrorText } from '../../src/ui/inline-messages.js';
import { MenuButton } from '../../src/ui/menu.js';
import { SegmentedControl } from '../../src/ui/segmented-control.js';
import { Select } from '../../src/ui/select.js';
import {
  SettingRow,
  type SettingRowProps,
  Switch,
  type SwitchProps,
  ToggleRow,
  type ToggleRowProps,
  ToggleRowSkeleton,
} from '../../src/ui/setting-row.js';
import type { ForcedState, Group, PartExample } from '../example.js';
import { LONG, nothing } from './samples.js';

const KINDS = [
  { kind: 'primary', text: 'Save' },
  { kind: 'secondary', text: 'Configure' },
  { kind: 'danger', text: 'Block' },
  { kind: 'quiet', text: 'Clear all' },
] as const;

function states({ kind, text }: (typeof KINDS)[number]): PartExample[] {
  const one = (state: string, props: Partial<ButtonProps> = {}, more: Partial<PartExample> = {}): PartExample => ({
    id: `button-${kind}${state === '' ? '' : `-${state}`}`,
    title: `${kind} ${state}`,
    draw: () => (
      <Button kind={kind} {...props}>
        {text}
      </Button>
    ),
    ...more,
  });
  return [
    one(''),
    ...(['hover', 'focus', 'active'] as const).map((state) => one(state, {}, { force: { state, on: 'button' } })),
    one('pending', { pendingText: 'Saving…' }),
    one('disabled', { disabled: true }),
    one('small', { small: true }),
  ];
}

const items = [
  { icon: 'ban', text: 'Manage IP Traffic', onChoose: nothing },
  { icon: 'search', text: 'View activity', onChoose: nothing },
];

export const buttons: Group = {
  id: 'buttons',
  title: 'Buttons, links and menus',
  small: true,
  examples: [
    ...KINDS.flatMap(states),
    {
      id: 'button-icon',
      title: 'with an icon',
      draw: () => (
        <Button>
          <Icon name="plus" />
          Add another
        </Button>
      ),
    },
    { id: 'button-long', title: 'long text', draw: () => <Button>{LONG}</Button> },
    ...([undefined, 'hover', 'focus'] as const).map(
      (state): PartExample => ({
        id: `icon-button${state === undefined ? '' : `-${state}`}`,
        title: `icon button ${state ?? ''}`,
        draw: () => (
          <button type="button" className="so-iconbtn so-iconbtn--line" aria-label="Refresh">
            <Icon name="refresh" />
          </button>
        ),
        ...(state === undefined ? {} : { force: { state, on: 'button' } }),
      }),
    ),
    {
      id: 'icon-button-plain',
      title: 'icon button in a row',
      draw: () => (
        <>
          <IconButton icon="pencil" label="Edit" onClick={nothing} />{' '}
          <IconButton icon="trash" label="Delete" inactive onClick={nothing} />
        </>
      ),
    },
    ...([undefined, 'hover', 'focus'] as const).map(
      (state): PartExample => ({
        id: `link${state === undefined ? '' : `-${state}`}`,
        title: `link ${state ?? ''}`,
        draw: () => (
          <a className="so-link" href="#link">
            View all logs
          </a>
        ),
        ...(state === undefined ? {} : { force: { state, on: 'a' } }),
      }),
    ),
    {
      id: 'menu-closed',
      title: 'menu button',
      draw: () => (
        <MenuButton className="so-iconbtn" label="Actions for 203.0.113.24" items={items}>
          <Icon name="more" />
        </MenuButton>
      ),
    },
    {
      id: 'menu-open',
      title: 'menu, open',
      room: 140,
      draw: () => (
        <div style={{ paddingLeft: 240 }}>
          <MenuButton className="so-btn so-btn--tool" items={items}>
            Export
          </MenuButton>
        </div>
      ),
      act: (user) => user.click('button', 'Export'),
    },
  ],
};

const FAILED = 'We couldn’t save this. The option is still off.';

function toggle(state: string, props: Partial<ToggleRowProps>, more: Partial<PartExample> = {}): PartExample {
  return {
    id: `toggle-row-${state}`,
    title: `switch row, ${state.replace(/-/g, ' ')}`,
    ground: 'flush',
    draw: () => (
      <ToggleRow
        icon="plug"
        title="Disable XML-RPC"
        help="Stop apps and bots from using an old interface of WordPress."
        on={false}
        pending={false}
        recommended={false}
        onToggle={nothing}
        onRetry={nothing}
        {...props}
      />
    ),
    ...more,
  };
}

function row(state: string, props: Partial<SettingRowProps>): PartExample {
  return {
    id: `setting-row-${state}`,
    title: `row, ${state.replace(/-/g, ' ')}`,
    ground: 'flush',
    draw: () => (
      <SettingRow
        id={`row-${state}`}
        icon="gate"
        state="on"
        title="Login Access"
        help="Only these addresses can reach the login page."
        {...props}
      >
        <span className="so-row__value">3 addresses</span>
        <Button>Configure</Button>
      </SettingRow>
    ),
  };
}

function control(state: string, props: Partial<SwitchProps>, more: Partial<PartExample> = {}): PartExample {
  return {
    id: `switch-${state}`,
    title: `switch, ${state.replace(/-/g, ' ')}`,
    draw: () => <Switch on={false} labelledBy="none" describedBy="none" onToggle={nothing} {...props} />,
    ...more,
  };
}

export const switches: Group = {
  id: 'switches',
  title: 'Switches',
  small: true,
  examples: [
    control('off', {}),
    control('on', { on: true }),
    ...(['hover', 'focus'] as const).flatMap((state) => [
      control(`off-${state}`, {}, { force: { state, on: 'button' } }),
      control(`on-${state}`, { on: true }, { force: { state, on: 'button' } }),
    ]),
    control('pending-on', { on: true, pending: true }),
    control('pending-off', { pending: true }),
    control('disabled', { disabled: true }),
    control('disabled-on', { disabled: true, on: true }),
  ],
};

export const rows: Group = {
  id: 'rows',
  title: 'Rows of settings',
  examples: [
    toggle('off', {}),
    toggle('recommended', { recommended: true }),
    toggle('on', { on: true }),
    toggle('pending', { on: true, pending: true }),
    toggle('failed', { recommended: true, error: FAILED }),
    toggle('disabled', { disabled: true }),
    toggle('hover', {}, { force: { state: 'hover', on: '[role="switch"]' } }),
    toggle('focus', { on: true }, { force: { state: 'focus', on: '[role="switch"]' } }),
    toggle('long-text', { title: LONG, help: `${LONG}. ${LONG}. ${LONG}.`, recommended: true, error: FAILED }),
    {
      id: 'toggle-row-loading',
      title: 'switch rows, loading',
      ground: 'flush',
      draw: () => (
        <>
          <ToggleRowSkeleton />
          <ToggleRowSkeleton />
        </>
      ),
    },
    { id: 'options-loading', title: 'options, loading', ground: 'page', draw: () => <SettingsSkeleton rows={2} /> },
    {
      id: 'options-failed',
      title: 'options, failed',
      ground: 'page',
      draw: () => (
        <SettingsSection
          title="Options"
          settings={{ state: 'failed', failure: new ApiError('no_response'), retrying: false, retry: nothing }}
          rows={2}
        >
          {() => null}
        </SettingsSection>
      ),
    },
    row('value-and-button', {}),
    row('off', { state: 'off', recommended: true }),
    row('pending', { pending: true }),
    row('failed', { state: 'off', error: FAILED, onRetry: nothing }),
    row('warning', { state: 'warn', note: <p>Your address is not in the list.</p> }),
    row('long-text', { title: LONG, help: `${LONG}. ${LONG}.`, note: `${LONG}.` }),
  ],
};

/** The props of an input besides its field. */
interface Input {
  readonly value?: string;
  readonly placeholder?: string;
  readonly disabled?: boolean;
}

const WRONG = 'This field is required.';

function field(
  state: string,
  input: Input,
  props: Partial<FieldProps> = {},
  force?: ForcedState['state'],
): PartExample {
  return {
    id: `field-${state}`,
    title: `field, ${state.replace(/-/g, ' ')}`,
    draw: () => (
      <Field label="Login URL" error={undefined} {...props}>
        {(control) => (
          <input
            {...control}
            className="so-input"
            type="text"
            defaultValue={input.value}
            placeholder={input.placeholder}
            disabled={input.disabled}
          />
        )}
      </Field>
    ),
    ...(force === undefined ? {} : { force: { state: force, on: 'input' } }),
  };
}

const ATTEMPTS = [
  { value: 0, text: 'OFF' },
  { value: 3, text: '3 attempts' },
  { value: 5, text: '5 attempts' },
];

function select(state: string, disabled: boolean, force?: ForcedState['state']): PartExample {
  return {
    id: `select-${state}`,
    title: `select, ${state}`,
    draw: () => <Select label="Attempts" auto value={5} options={ATTEMPTS} disabled={disabled} onChange={nothing} />,
    ...(force === undefined ? {} : { force: { state: force, on: 'button' } }),
  };
}

const SCHEDULES = [
  { value: 'period', text: 'Once' },
  { value: 'daily', text: 'Daily' },
  { value: 'weekly', text: 'Weekly' },
];

function segmented(options: typeof SCHEDULES): ReactElement {
  return <SegmentedControl label="Schedule" options={options} value="daily" onChange={nothing} />;
}

function chips(state: string, props: Partial<ChipInputProps>, error?: string): PartExample {
  return {
    id: `chips-${state}`,
    title: `e-mail chips, ${state.replace(/-/g, ' ')}`,
    draw: () => (
      <Field label="E-mail addresses" help="Separate them with a space, a comma or a line." error={error}>
        {(control) => (
          <ChipInput
            control={control}
            chips={[]}
            text=""
            isBad={(chip) => !chip.includes('@')}
            placeholder="name@example.com"
            disabled={false}
            toPlain={toPlainText}
            onChange={nothing}
            {...props}
          />
        )}
      </Field>
    ),
  };
}

function checkbox(state: string, checked: boolean, disabled: boolean, force?: ForcedState['state']): PartExample {
  return {
    id: `checkbox-${state}`,
    title: `checkbox, ${state.replace(/-/g, ' ')}`,
    draw: () => (
      <Checkbox checked={checked} disabled={disabled} onChange={nothing}>
        Send me a copy
      </Checkbox>
    ),
    ...(force === undefined ? {} : { force: { state: force, on: 'input' } }),
  };
}

export const fields: Group = {
  id: 'fields',
  title: 'Fields',
  small: true,
  examples: [
    field('value', { value: 'team-entrance' }),
    field('placeholder', { placeholder: 'team-entrance' }),
    field('hover', { value: 'team-entrance' }, {}, 'hover'),
    field('focus', { value: 'team-entrance' }, {}, 'focus'),
    field('disabled', { value: 'team-entrance', disabled: true }),
    field('help', { value: 'team-entrance' }, { help: 'Small letters, digits and hyphens.' }),
    field('error', { value: '' }, { error: WRONG }),
    field('error-focus', { value: '' }, { error: WRONG }, 'focus'),
    field('label-hidden', { value: '203.0.113.10' }, { labelHidden: true }),
    field('long-text', { value: LONG }, { label: LONG, help: `${LONG}.`, error: `${LONG}.` }),
    { id: 'field-message', title: 'message alone', draw: () => <ErrorText>{WRONG}</ErrorText> },
    {
      id: 'affix-address',
      title: 'fixed part in front',
      draw: () => <AffixInput affix="http://example.com/" aria-label="Login URL" defaultValue="team-entrance" />,
    },
    {
      id: 'affix-icon',
      title: 'icon in front',
      draw: () => (
        <AffixInput affix={<Icon name="calendar" />} isIcon aria-label="Day" defaultValue="28 November 2026" />
      ),
    },
    {
      id: 'affix-focus',
      title: 'fixed part in front, focus',
      draw: () => <AffixInput affix="http://example.com/" aria-label="Address" defaultValue="team-entrance" />,
      act: (user) => user.focus('textbox', 'Address'),
    },
    {
      id: 'affix-error',
      title: 'fixed part in front, error',
      draw: () => (
        <Field label="Login URL" error={WRONG}>
          {(control) => <AffixInput {...control} affix="http://example.com/" />}
        </Field>
      ),
    },
    select('closed', false),
    select('hover', false, 'hover'),
    select('focus', false, 'focus'),
    select('disabled', true),
    checkbox('off', false, false),
    checkbox('on', true, false),
    checkbox('focus', true, false, 'focus'),
    checkbox('disabled', false, true),
    {
      id: 'copy-button',
      title: 'copy button',
      draw: () => <CopyButton text="001N-GDMM" label="Reference" />,
    },
    {
      id: 'copy-text-button',
      title: 'button in words that copies',
      draw: () => <CopyTextButton text="POST /xmlrpc.php">Copy details</CopyTextButton>,
    },
    {
      id: 'text-input',
      title: 'text input for an address',
      draw: () => <TextInput aria-label="Address" mono value="198.51.100.0/24" onText={() => undefined} />,
    },
    { id: 'segmented', title: 'segmented control', draw: () => segmented(SCHEDULES) },
    ...(['hover', 'focus'] as const).map((state) => ({
      id: `segmented-${state}`,
      title: `segmented control, ${state}`,
      draw: () => segmented(SCHEDULES.slice(0, 2)),
      force: { state, on: state === 'hover' ? 'button' : '.is-on' },
    })),
  ],
};

export const chipFields: Group = {
  id: 'chips',
  title: 'E-mail chips',
  examples: [
    chips('empty', {}),
    chips('filled', { chips: ['owner@example.com', 'agency@example.net'] }),
    chips('bad', { chips: ['owner@example.com', 'office(at)example.com'] }, 'Invalid email address.'),
    chips('disabled', { chips: ['owner@example.com'], disabled: true }),
    chips('long-text', { chips: [`${'a-very-long-name-'.repeat(8)}@example.com`], text: 'editor' }),
    {
      ...chips('focus', { chips: ['owner@example.com'] }),
      act: (user) => user.focus('textbox', 'E-mail addresses'),
    },
  ],
};
