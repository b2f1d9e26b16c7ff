import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { FakeSite } from '../fake-site/site.js';
import { openPage } from './open-page.js';

// Lazily loaded parts, so that no test waits for their compilation.
import '../../src/features/activity-log/attackers-panel.js';
import '../../src/features/activity-log/block-popover.js';
import '../../src/features/activity-log/blocked-tab.js';
import '../../src/features/activity-log/event-drawer.js';
import '../../src/features/activity-log/filter-panel.js';
import '../../src/features/activity-log/manage-dialog.js';
import '../../src/features/activity-log/registered-tab.js';
import '../../src/features/activity-log/request-drawer.js';
import '../../src/features/activity-log/settings-tab.js';
import '../../src/features/activity-log/traffic-chart.js';
import '../../src/features/activity-log/weekly-tab.js';

// jsdom has no layout and therefore does not scroll.
Element.prototype.scrollIntoView ??= () => undefined;

/** Opens the page Activity Log on one of its tabs, or with a view in its URL (`?log_show=blocked`). */
export async function openLog(site: FakeSite, tab = '', config: Record<string, unknown> = {}): Promise<void> {
  window.history.replaceState(null, '', `/${tab === '' || tab.startsWith('?') ? tab : `#${tab}`}`);
  await openPage(site, { localeSlug: 'en-GB', ...config }, 'ACTIVITY_LOG');
}

/** Texts of the cells of a table, row by row, starting with the header. */
export async function tableTexts(name: string): Promise<string[][]> {
  const table = await screen.findByRole('table', { name });
  return within(table)
    .getAllByRole('row')
    .map((row) => Array.from(row.children, (cell) => (cell.textContent ?? '').replace(/\s+/g, ' ').trim()));
}

/** Opens the menu of a row and chooses an entry. */
export async function choose(subject: string, entry: string): Promise<void> {
  await userEvent.click(await screen.findByRole('button', { name: `Actions for ${subject}` }));
  await userEvent.click(screen.getByRole('menuitem', { name: entry }));
}

/** Opens the filter panel. */
export async function openFilter(): Promise<HTMLElement> {
  await screen.findByRole('table', { name: /Activity$/ });
  await userEvent.click(screen.getByRole('button', { name: /^Filter/ }));
  return screen.findByRole('dialog', { name: 'Filter' });
}
