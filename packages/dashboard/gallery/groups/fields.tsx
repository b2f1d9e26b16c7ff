import type { ReactElement } from 'react';
import { ErrorText } from '../../src/components/error-text.js';
import { AffixInput } from '../../src/forms/affix-input.js';
import { ChipInput, type ChipInputProps } from '../../src/forms/chip-input.js';
import { Field, type FieldProps } from '../../src/forms/field.js';
import { Segmented } from '../../src/forms/segmented.js';
import { Select } from '../../src/forms/select.js';
import { Icon } from '../../src/icons/icon.js';
import type { ForcedState, Group, PartExample } from '../example.js';
import { LONG, nothing } from './samples.js';

/** What an input of a field is given beside its field. */
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
  return <Segmented label="Schedule" options={options} value="daily" onChange={nothing} />;
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
      <label className="so-check">
        <input type="checkbox" defaultChecked={checked} disabled={disabled} />
        <span>Send me a copy</span>
      </label>
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
      act: (hands) => hands.focus('textbox', 'Address'),
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
      act: (hands) => hands.focus('textbox', 'E-mail addresses'),
    },
  ],
};
