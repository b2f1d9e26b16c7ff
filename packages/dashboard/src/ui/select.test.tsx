import { render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { choose, listOptions } from '../../test/select-option.js';
import { testServices } from '../../test/test-services.js';
import { readConfig } from '../api/config.js';
import { ServicesProvider } from '../app/services.js';
import { Select, type SelectProps } from './select.js';

const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October'];
const onChange = vi.fn<(value: number) => void>();
const onKeyDown = vi.fn<(key: string) => void>();

function Example(props: Partial<SelectProps<number>>) {
  const [value, setValue] = useState(props.value ?? null);
  const [services] = useState(() => testServices(readConfig(document.createElement('div'), window.location.href)));
  return (
    <ServicesProvider services={services}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: what a dialog around the field would hear */}
      <div onKeyDown={(event) => onKeyDown(event.key)}>
        <Select
          label="Month"
          placeholder="Choose a month"
          options={MONTHS.map((text, index) => ({ value: index, text }))}
          {...props}
          value={value}
          onChange={(chosen) => {
            onChange(chosen);
            setValue(chosen);
          }}
        />
        <button type="button">Next</button>
      </div>
    </ServicesProvider>
  );
}

const field = () => screen.getByRole('combobox', { name: 'Month' });
const list = () => screen.queryByRole('listbox', { name: 'Month' });
/** Returns the text of the field's active option. */
const active = () => document.getElementById(field().getAttribute('aria-activedescendant') ?? '')?.textContent;
const press = (keys: string) => userEvent.keyboard(keys);

beforeEach(() => {
  onChange.mockClear();
  onKeyDown.mockClear();
});

describe('a select', () => {
  it('shows the chosen option, or a prompt', async () => {
    render(<Example />);
    expect(field().textContent).toBe('Choose a month');
    expect(field().getAttribute('aria-expanded')).toBe('false');
    await choose(field(), 'March');
    expect(field().textContent).toBe('March');
    expect(onChange).toHaveBeenCalledExactlyOnceWith(2);
    expect(list()).toBeNull();
    await waitFor(() => expect(document.activeElement).toBe(field()));
  });

  it('marks the chosen option in its list, and starts there', async () => {
    render(<Example value={4} />);
    const options = await listOptions(field());
    expect(options.filter((option) => option.getAttribute('aria-selected') === 'true')).toEqual([options[4]]);
    expect(active()).toBe('May');
    expect(field().getAttribute('aria-controls')).toBe(list()?.id);
  });

  it.each(['{Enter}', ' ', '{ArrowDown}', '{ArrowUp}', '{Alt>}{ArrowDown}{/Alt}'])('opens with %s', async (key) => {
    render(<Example value={4} />);
    field().focus();
    await press(key);
    expect(active()).toBe('May');
    expect(onChange).not.toHaveBeenCalled();
  });

  it('opens at either end with Home and End', async () => {
    render(<Example value={4} />);
    field().focus();
    await press('{End}');
    expect(active()).toBe('October');
    await press('{Escape}{Home}');
    expect(active()).toBe('January');
  });

  it('moves with arrows, Page Up, Page Down, Home and End, and stops at its ends', async () => {
    render(<Example value={4} />);
    field().focus();
    const steps = [
      '{Enter}',
      '{ArrowDown}',
      '{ArrowUp}{ArrowUp}',
      '{PageDown}',
      '{ArrowDown}',
      '{PageUp}',
      '{ArrowUp}',
    ];
    const reached: (string | undefined)[] = [];
    for (const step of [...steps, '{End}', '{Home}']) {
      await press(step);
      reached.push(active() ?? undefined);
    }
    expect(reached).toEqual(['May', 'June', 'April', 'October', 'October', 'January', 'January', 'October', 'January']);
    expect(onChange).not.toHaveBeenCalled();
  });

  it.each(['{Enter}', ' ', '{Alt>}{ArrowUp}{/Alt}'])('chooses with %s and keeps the focus', async (key) => {
    render(<Example value={4} />);
    field().focus();
    await press(`{Enter}{ArrowDown}${key}`);
    expect(onChange).toHaveBeenCalledExactlyOnceWith(5);
    expect(list()).toBeNull();
    await waitFor(() => expect(document.activeElement).toBe(field()));
  });

  it('chooses with Tab, which moves on to the next control', async () => {
    render(<Example value={4} />);
    field().focus();
    await press('{Enter}{ArrowDown}{Tab}');
    expect(onChange).toHaveBeenCalledExactlyOnceWith(5);
    await waitFor(() => expect(document.activeElement?.textContent).toBe('Next'));
  });

  it('does not change when the chosen option is chosen again', async () => {
    render(<Example value={4} />);
    await choose(field(), 'May');
    expect(onChange).not.toHaveBeenCalled();
  });

  it('closes on Escape without a change, and passes the key on only when it is closed', async () => {
    render(<Example value={4} />);
    field().focus();
    await press('{Enter}{ArrowDown}{Escape}');
    expect(list()).toBeNull();
    expect(onChange).not.toHaveBeenCalled();
    expect(onKeyDown).not.toHaveBeenCalledWith('Escape');
    await press('{Escape}');
    expect(onKeyDown).toHaveBeenCalledWith('Escape');
  });

  it('closes on a click elsewhere, and on one on itself', async () => {
    render(<Example value={4} />);
    await userEvent.click(field());
    await userEvent.click(screen.getByRole('button', { name: 'Next' }));
    expect(list()).toBeNull();
    await userEvent.click(field());
    await userEvent.click(field());
    expect(list()).toBeNull();
  });

  it('finds an option by its first letters, and the next one by the same letter again', async () => {
    render(<Example value={8} />);
    field().focus();
    await press('ju');
    expect(active()).toBe('June');
    await press('{Escape}');
    await new Promise((resolve) => setTimeout(resolve, 600));
    await press('m');
    expect(active()).toBe('March');
    await press('m');
    expect(active()).toBe('May');
    await press('m');
    expect(active()).toBe('March');
  });

  it('stays if no option starts with the letters', async () => {
    render(<Example value={4} />);
    field().focus();
    await press('{Enter}x');
    expect(active()).toBe('May');
  });

  it('does not open while it is disabled or has no options', async () => {
    const { unmount } = render(<Example disabled />);
    await userEvent.click(field());
    expect(list()).toBeNull();
    unmount();
    render(<Example options={[]} />);
    await userEvent.click(field());
    expect(list()).toBeNull();
  });

  it('ignores another choice while one is being saved', async () => {
    render(<Example value={4} pending />);
    expect(field().getAttribute('aria-busy')).toBe('true');
    await choose(field(), 'March');
    expect(onChange).not.toHaveBeenCalled();
  });

  it('passes the attributes of its field on to the control', () => {
    render(<Example id="when" aria-invalid aria-describedby="why" />);
    expect(field().id).toBe('when');
    expect(field().getAttribute('aria-invalid')).toBe('true');
    expect(field().getAttribute('aria-describedby')).toBe('why');
  });
});
