import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import { type FakeSite, startFakeSite } from '../../../test/fake-site/site.js';
import { choose, openFilter, openLog } from '../../../test/pages/activity-log.js';

/** Clicks and keys during closing animations. */

let site: FakeSite;
beforeEach(async () => {
  site = await startFakeSite();
});

const filterButton = () => screen.getByRole('button', { name: /^Filter/ });
const filter = () => screen.queryByRole('dialog', { name: 'Filter' });
const pressEscape = () => fireEvent.keyDown(document.activeElement ?? document.body, { key: 'Escape' });
const waitForRemoval = () => waitFor(() => expect(document.querySelector('.so-filter')).toBeNull());

const closings: [string, () => void][] = [
  ['Escape', pressEscape],
  ['its button', () => fireEvent.click(filterButton())],
  ['its Close button', () => fireEvent.click(within(filter() as HTMLElement).getByRole('button', { name: 'Close' }))],
  ['a press outside', () => fireEvent.mouseDown(screen.getByRole('heading', { level: 1 }))],
];

describe('the filter panel that is reopened while it closes', () => {
  it.each(closings)('after %s takes the focus and closes on Escape', async (_how, close) => {
    await openLog(site);
    await openFilter();
    close();
    expect(filter()).toBeNull();
    fireEvent.click(filterButton());
    await waitFor(() => expect(filter()?.contains(document.activeElement)).toBe(true));
    pressEscape();
    expect(filterButton().getAttribute('aria-expanded')).toBe('false');
    await waitFor(() => expect(document.activeElement).toBe(filterButton()));
    await waitForRemoval();
  });

  it('starts with the applied filters, not with the discarded ones', async () => {
    await openLog(site);
    const panel = await openFilter();
    await userEvent.type(within(panel).getByRole('combobox', { name: 'IP address' }), '203.0.113.9');
    fireEvent.click(filterButton());
    fireEvent.click(filterButton());
    await waitFor(() => expect(filter()?.contains(document.activeElement)).toBe(true));
    const field = within(filter() as HTMLElement).getByRole('combobox', { name: 'IP address' });
    expect((field as HTMLInputElement).value).toBe('');
  });

  it('stays open or closed by the last of several clicks', async () => {
    await openLog(site);
    await openFilter();
    for (let presses = 0; presses < 7; presses++) fireEvent.click(filterButton());
    expect(filter()).toBeNull();
    fireEvent.click(filterButton());
    await new Promise((done) => setTimeout(done, 450));
    expect(filter()).not.toBeNull();
    pressEscape();
    await waitForRemoval();
  });
});

it('the filter panel closes on Escape even if nothing inside has the focus', async () => {
  await openLog(site);
  await openFilter();
  (document.activeElement as HTMLElement).blur();
  pressEscape();
  await waitForRemoval();
});

it('the filter panel stays open when Escape closes the calendar inside it', async () => {
  await openLog(site);
  const panel = await openFilter();
  await userEvent.click(within(panel).getByRole('combobox', { name: 'From' }));
  await within(panel).findByRole('dialog');
  await userEvent.keyboard('{Escape}');
  expect(within(panel).queryByRole('dialog')).toBeNull();
  expect(filter()).not.toBeNull();
  await userEvent.keyboard('{Escape}');
  await waitForRemoval();
});

describe('the menu of a row that is reopened while it closes', () => {
  const button = () => screen.getAllByRole('button', { name: /^Actions for/ })[0] as HTMLElement;
  const menu = () => screen.queryByRole('menu');
  const ways: [string, () => void][] = [
    ['Escape', pressEscape],
    ['its button', () => fireEvent.click(button())],
    ['Tab', () => fireEvent.keyDown(document.activeElement as HTMLElement, { key: 'Tab' })],
    ['a press outside', () => fireEvent.mouseDown(screen.getByRole('heading', { level: 1 }))],
  ];

  it.each(ways)('after %s takes the focus and closes on Escape', async (_how, close) => {
    await openLog(site);
    await screen.findByRole('table', { name: /Activity$/ });
    fireEvent.click(button());
    expect(menu()).not.toBeNull();
    close();
    expect(menu()).toBeNull();
    fireEvent.click(button());
    expect(menu()?.contains(document.activeElement)).toBe(true);
    pressEscape();
    expect(menu()).toBeNull();
    await waitFor(() => expect(document.activeElement).toBe(button()));
    await waitFor(() => expect(document.querySelector('.so-menu')).toBeNull());
  });
});

it('a dialog that is closed several times closes once, restores the focus and opens again', async () => {
  await openLog(site);
  await screen.findByRole('table', { name: /Activity$/ });
  for (let round = 0; round < 2; round++) {
    await choose('203.0.113.24', 'Manage IP Traffic');
    const dialog = await screen.findByRole('dialog', { name: 'Manage IP Traffic' });
    pressEscape();
    fireEvent.click(within(dialog).getByRole('button', { name: 'Close' }));
    pressEscape();
    fireEvent.mouseDown(dialog.parentElement as HTMLElement);
    fireEvent.click(dialog.parentElement as HTMLElement);
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    await waitFor(() => expect(document.activeElement?.getAttribute('aria-label')).toBe('Actions for 203.0.113.24'));
  }
});
