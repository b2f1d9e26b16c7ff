import { Button } from '../../src/components/button.js';
import { SettingRow, type SettingRowProps } from '../../src/components/setting-row.js';
import { Switch, type SwitchProps } from '../../src/components/switch.js';
import { ToggleRow, type ToggleRowProps } from '../../src/components/toggle-row.js';
import { ToggleRowSkeleton } from '../../src/components/toggle-row-skeleton.js';
import type { Group, PartExample } from '../example.js';
import { LONG, nothing } from './samples.js';

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
    row('value-and-button', {}),
    row('off', { state: 'off', recommended: true }),
    row('pending', { pending: true }),
    row('failed', { state: 'off', error: FAILED, onRetry: nothing }),
    row('warning', { state: 'warn', note: <p>Your address is not in the list.</p> }),
    row('long-text', { title: LONG, help: `${LONG}. ${LONG}.`, note: `${LONG}.` }),
  ],
};
