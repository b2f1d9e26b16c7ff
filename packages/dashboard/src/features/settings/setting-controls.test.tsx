import type { SettingRow } from '@security-optimizer/contract/settings/catalogue';
import { render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ApiServer, ok, type Reply, refused, startApiServer } from '../../../test/fake-site/server.js';
import { gate } from '../../../test/fake-site/site.js';
import { choose } from '../../../test/select-option.js';
import { testServices } from '../../../test/test-services.js';
import { readConfig } from '../../api/config.js';
import { ServicesProvider } from '../../app/services.js';
import { SettingRows } from './setting-controls.js';
import type { SettingsSource } from './settings-query.js';
import { useSettings } from './use-settings.js';

/** Two settings that no file of the dashboard names. */
const rows: readonly SettingRow[] = [
  {
    field: 'close_shop',
    suffix: '/close-shop',
    icon: 'gate',
    title: 'Close the shop',
    help: 'Nobody buys anything.',
    essential: true,
    offersUndo: (_before, after) => after === 0,
    messages: { on: 'The shop is closed.', off: 'The shop is open.' },
  },
  {
    field: 'opening_days',
    suffix: '/opening-days',
    icon: 'calendar',
    title: 'Opening days',
    help: 'Days on which the shop is open.',
    unit: 'days',
    notSaved: 'We couldn’t save this. The shop opens as before.',
  },
];

const source: SettingsSource<Record<string, unknown>> = {
  key: ['settings', 'shop'],
  call: { endpoint: { name: 'fetchShop', suffix: '/shop', methods: ['GET'] }, request: {} },
  read: (data) => data as Record<string, unknown>,
};

const days = (selected: number) =>
  [1, 5, 7].map((value) => ({ value, label: `${value}`, selected: +(value === selected) }));

let server: ApiServer;
let replies: Record<string, () => Reply | Promise<Reply>>;
beforeEach(async () => {
  replies = { '/shop': () => ok({ close_shop: 1, opening_days: days(5) }) };
  server = await startApiServer((call) => {
    const suffix = call.url.slice(call.url.lastIndexOf('/'));
    return replies[suffix]?.() ?? { status: 404, body: '' };
  });
});

function Page() {
  return useSettings(source).state === 'ready' ? <SettingRows source={source} rows={rows} /> : <p>Loading</p>;
}

async function draw(): Promise<void> {
  const container = document.createElement('div');
  container.dataset.config = JSON.stringify({ rest_base: `${server.origin}/wp-json/`, wp_nonce: 'aaaaaaaaaa' });
  render(
    <ServicesProvider services={testServices(readConfig(container, window.location.href))}>
      <Page />
    </ServicesProvider>,
  );
  await screen.findByRole('heading', { name: /Close the shop/ });
}

const closeShop = (): HTMLElement => screen.getByRole('switch', { name: 'Close the shop' });
const openingDays = (): HTMLElement => screen.getByRole('combobox', { name: 'Opening days' });
const bodies = (suffix: string): unknown[] =>
  server.calls.filter(({ url }) => url.endsWith(suffix)).map(({ body }) => JSON.parse(body));

describe('a setting that was added to the catalogue alone', () => {
  it('is drawn with its texts and its value', async () => {
    await draw();
    expect(screen.getByText('Nobody buys anything.')).toBeDefined();
    expect(closeShop().getAttribute('aria-checked')).toBe('true');
    expect(openingDays().textContent).toBe('5 days');
  });

  it('is saved by its endpoint, shown as pending until then, and recommended once it is off', async () => {
    const held = gate();
    replies['/close-shop'] = async () => {
      await held.opened;
      return ok({ close_shop: 0 });
    };
    await draw();
    await userEvent.click(closeShop());
    expect(closeShop().closest('.so-row')?.className).toContain('is-busy');
    held.open();
    await waitFor(() => expect(closeShop().closest('.so-row')?.className).not.toContain('is-busy'));
    expect(closeShop().getAttribute('aria-checked')).toBe('false');
    expect(screen.getByText('recommended')).toBeDefined();
    expect(bodies('/close-shop')).toEqual([{ close_shop: 0 }]);
  });

  it('with choices is saved by its endpoint', async () => {
    replies['/opening-days'] = () => ok({ opening_days: days(7) });
    await draw();
    await choose(openingDays(), '7 days');
    await waitFor(() => expect(openingDays().textContent).toBe('7 days'));
    expect(bodies('/opening-days')).toEqual([{ opening_days: 7 }]);
  });

  it('keeps its value when it could not be saved, and says so with its own text', async () => {
    replies['/opening-days'] = () => refused(500, 'internal', 'An error occurred. Please try again later');
    await draw();
    await choose(openingDays(), '1 day');
    expect(await screen.findByText(/The shop opens as before/)).toBeDefined();
    expect(openingDays().textContent).toBe('5 days');
  });
});
