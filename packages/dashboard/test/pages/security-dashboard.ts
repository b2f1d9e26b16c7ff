import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { FakeSite } from '../fake-site/site.js';
import { openPage } from './open-page.js';

// Lazily loaded parts, so that no test waits for their compilation.
import '../../src/features/consent/consent-dialog.js';
import '../../src/features/login-settings/login-url-dialog.js';
import '../../src/features/security-dashboard/apply-dialog.js';
import '../../src/features/activity-log/traffic-chart.js';

export const PAGES = ['security-optimizer', 'login-settings', 'site-security', 'activity-log'].map((slug) => ({
  slug,
  url: `http://example.com/wp-admin/admin.php?page=${slug}`,
}));

/** Opens the Security Dashboard. All of its data is loaded once the score is visible. */
export async function openDashboard(site: FakeSite, config: Record<string, unknown> = {}): Promise<void> {
  const { url } = PAGES[3] ?? { url: '' };
  await openPage(
    site,
    { localeSlug: 'en-GB', home_url: 'http://example.com/', log_page_url: url, pages: PAGES, ...config },
    'SECURITY_DASHBOARD',
  );
}

/** Titles of the sections from top to bottom, starting with the header's. */
export function sectionTitles(): string[] {
  return screen.getAllByRole('heading', { level: 2 }).map((title) => title.textContent ?? '');
}

/** Opens "Apply all recommended". */
export async function openApply(site: FakeSite): Promise<HTMLElement> {
  await openDashboard(site);
  await userEvent.click(await screen.findByRole('button', { name: 'Apply all recommended' }));
  return screen.findByRole('dialog', { name: 'Apply all recommended' });
}
