import { toDigit } from '@security-optimizer/contract/typed-text';
import { ComboBox, type ComboBoxProps } from '../../src/ui/combo-box.js';
import { Calendar, type CalendarProps, DateField } from '../../src/ui/date-field.js';
import { Field } from '../../src/ui/field.js';
import { PickerField } from '../../src/ui/picker-field.js';
import { OptionList, Select, type SelectProps } from '../../src/ui/select.js';
import { Clock, TimeColumn, TimeField } from '../../src/ui/time-field.js';
import type { Group, PartExample } from '../example.js';
import { english12, english24, LONG, nothing, TODAY } from './samples.js';

const month: Omit<CalendarProps, 'id' | 'onChoose'> = {
  value: '2026-11-28',
  min: TODAY,
  max: '2027-11-21',
  today: TODAY,
  range: { from: '2026-11-28', to: '2026-12-03' },
  formats: english24,
  weekStart: 1,
  summary: '28 November – 3 December',
};

/** A popup takes the focus, so each has its own document. */
function calendar(state: string, props: Partial<CalendarProps>): PartExample {
  return {
    id: `calendar-${state}`,
    title: `calendar, ${state.replace(/-/g, ' ')}`,
    alone: true,
    room: 400,
    draw: () => (
      <div className="so-anchor">
        <Calendar {...month} id="calendar" onChoose={nothing} {...props} />
      </div>
    ),
  };
}

const options = ['Human', 'Googlebot', 'Bingbot', 'Unknown'].map((label) => ({ value: label, label }));

function combo(state: string, props: Partial<ComboBoxProps>, act?: PartExample['act']): PartExample {
  return {
    id: `combo-box-${state}`,
    title: `field with a list, ${state.replace(/-/g, ' ')}`,
    draw: () => (
      <div style={{ width: 320 }}>
        <ComboBox
          label="Visitor"
          value={null}
          options={options}
          none="All"
          error={undefined}
          onChange={nothing}
          onSearch={nothing}
          {...props}
        />
      </div>
    ),
    ...(act === undefined ? {} : { act, room: 260 }),
  };
}

const users = [...['editor-1', 'author-2', 'shop-manager', LONG], ...Array.from({ length: 12 }, (_, n) => `user-${n}`)];

function select(state: string, props: Partial<SelectProps<number>>, act?: PartExample['act']): PartExample {
  return {
    id: `select-in-field-${state}`,
    title: `choice, ${state.replace(/-/g, ' ')}`,
    draw: () => (
      <div style={{ width: 320 }}>
        <Field label="User" error={props['aria-invalid'] ? 'This field is required.' : undefined}>
          {(control) => (
            <Select
              {...control}
              label="User"
              placeholder="Choose a user"
              value={null}
              options={users.map((text, value) => ({ value, text }))}
              onChange={nothing}
              {...props}
            />
          )}
        </Field>
      </div>
    ),
    ...(act === undefined ? {} : { act, room: 260 }),
  };
}

export const pickers: Group = {
  id: 'pickers',
  title: 'Lists, days and times',
  examples: [
    select('none', {}),
    select('error', { 'aria-invalid': true }),
    select('long-text', { value: 3 }),
    select('open', { value: 1 }, (user) => user.press('{Tab}{Enter}{ArrowDown}')),
    select('open-at-end', { value: 1 }, (user) => user.press('{Tab}{End}')),
    {
      id: 'option-list',
      title: 'open list, 40 px each',
      room: 150,
      draw: () => (
        <div className="so-anchor" style={{ width: 208 }}>
          <OptionList
            id="options"
            label="Attempts"
            texts={['OFF', '3 attempts', '5 attempts']}
            chosen={2}
            active={1}
            onChoose={nothing}
          />
        </div>
      ),
    },
    combo('closed', {}),
    combo('chosen', { value: options[1] ?? null }),
    combo('error', { error: 'Invalid format.' }),
    combo('long-text', { value: { value: 1, label: LONG } }),
    combo('open', { value: options[1] ?? null }, (user) => user.click('combobox', 'Visitor')),
    combo('nothing-found', { options: [] }, (user) => user.type('Visitor', 'x')),
    {
      id: 'date-field',
      title: 'day',
      draw: () => <DateField {...month} label="From" error={undefined} onChange={nothing} />,
    },
    {
      id: 'date-field-empty',
      title: 'no day yet, required',
      draw: () => <DateField {...month} value="" label="From" error="This field is required." onChange={nothing} />,
    },
    {
      id: 'date-field-open',
      title: 'day, open',
      room: 400,
      draw: () => <DateField {...month} label="From" error={undefined} onChange={nothing} />,
      act: (user) => user.click('combobox', 'From'),
    },
    {
      id: 'calendar-years',
      title: 'month, choosing a year',
      room: 400,
      alone: true,
      draw: () => (
        <div className="so-anchor">
          <Calendar {...month} id="calendar-years" onChoose={nothing} />
        </div>
      ),
      act: (user) => user.click('combobox', 'Year'),
    },
    calendar('range', {}),
    calendar('first-month', { value: '', range: { from: '', to: '' }, summary: 'Choose the first day.' }),
    calendar('sunday-first', { weekStart: 0, formats: english12, range: { from: '2026-11-28', to: '' } }),
    {
      id: 'time-field',
      title: 'time',
      draw: () => (
        <TimeField
          label="From"
          value="22:30"
          toDigit={toDigit}
          formats={english24}
          error={undefined}
          onChange={nothing}
        />
      ),
    },
    {
      id: 'time-field-12-hours',
      title: 'time, twelve hours',
      draw: () => (
        <TimeField
          label="From"
          value="22:30"
          toDigit={toDigit}
          formats={english12}
          error={undefined}
          onChange={nothing}
        />
      ),
    },
    {
      id: 'time-field-error',
      title: 'time, error',
      draw: () => (
        <TimeField
          label="From"
          value="22:30"
          toDigit={toDigit}
          formats={english24}
          error="You can enable Away Mode for maximum of 23 hours daily."
          onChange={nothing}
        />
      ),
    },
    ...([english24, english12] as const).map((formats) => ({
      id: `clock-${formats.is12Hours ? '12' : '24'}-hours`,
      title: `clock of ${formats.is12Hours ? 12 : 24} hours`,
      alone: true,
      room: 260,
      draw: () => (
        <div className="so-anchor">
          <Clock id="clock" value="22:30" formats={formats} toDigit={toDigit} onChange={nothing} onDone={nothing} />
        </div>
      ),
    })),
    {
      id: 'time-column',
      title: 'column of a clock',
      room: 220,
      draw: () => (
        <div className="so-anchor">
          <div className="so-pop so-drop so-clock">
            <TimeColumn
              label="Hour"
              options={['00', '01', '02', '03', '04', '05', '06']}
              chosen={3}
              toDigit={toDigit}
              onChoose={nothing}
            />
          </div>
        </div>
      ),
    },
    {
      id: 'picker-field',
      title: 'field that opens something',
      draw: () => (
        <PickerField label="Period" icon="calendar" placeholder="Choose a period" text="" error={undefined}>
          {() => null}
        </PickerField>
      ),
    },
  ],
};
