import { serverMessage } from '@security-optimizer/contract/server-messages';
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import { notice } from '../../../test/fake-site/overview.js';
import { ok, refused } from '../../../test/fake-site/server.js';
import { type FakeSite, gate, startFakeSite } from '../../../test/fake-site/site.js';
import { tableTexts } from '../../../test/pages/activity-log.js';
import { toastTexts, visited } from '../../../test/pages/open-page.js';
import { openDashboard, sectionTitles } from '../../../test/pages/security-dashboard.js';

let site: FakeSite;
beforeEach(async () => {
  site = await startFakeSite();
});

describe('the Security Dashboard', () => {
  it('shows the four sections in the order of the specification', async () => {
    site.overview.notifications = [notice('a')];
    site.overview.rate.show = 1;
    await openDashboard(site);
    await screen.findByText('Rate Us');
    await screen.findByText('Important Notifications');
    await screen.findByText('Well protected');
    expect(sectionTitles()).toEqual([
      'Well protected',
      'Next steps',
      'Important Notifications',
      'Who is attacking',
      'Security Hardening',
      'Rate Us',
      'Recent Activity',
    ]);
  });

  it('hides notifications, the e-book and the request for a review if there are none', async () => {
    await openDashboard(site);
    await screen.findByText('5 of 6 on');
    await waitFor(() => expect(site.calls('/rate')).toHaveLength(1));
    expect(screen.queryByText('Important Notifications')).toBeNull();
    expect(screen.queryByText('Rate Us')).toBeNull();
    expect(screen.queryByRole('complementary')).toBeNull();
  });

  it('works without its own endpoints, as with an older server', async () => {
    for (const suffix of [
      '/notifications',
      '/hardening',
      '/e-book',
      '/rate',
      '/protection-facts',
      '/activity-traffic',
    ]) {
      site.replies.set(suffix, () => refused(404, 'rest_no_route', 'No route was found.'));
    }
    await openDashboard(site);
    expect(await screen.findByText('Well protected')).toBeDefined();
    expect(await screen.findByRole('link', { name: 'Open: Site Security' })).toBeDefined();
    expect(screen.getByText('2 of 4 on')).toBeDefined();
    expect(await screen.findByRole('table')).toBeDefined();
    expect(screen.queryByText('Important Notifications')).toBeNull();
    expect(screen.queryByText('Last 7 days')).toBeNull();
    expect(toastTexts()).toEqual([]);
  });

  it('says that the settings could not be loaded, and loads them on request', async () => {
    site.replies.set('/fetch-options', () => refused(503, 'busy', 'Try later.'));
    await openDashboard(site);
    expect(await screen.findByText(/we can’t say how safe this site is/)).toBeDefined();
    expect(screen.queryByRole('img', { name: /essentials on/ })).toBeNull();
    site.replies.clear();
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
    expect(await screen.findByText('Well protected')).toBeDefined();
  });

  it('shows no score before the settings are loaded', async () => {
    const held = gate();
    site.replies.set('/fetch-options', async (call) => {
      await held.opened;
      return ok(call.body.includes('login') ? site.login : site.options);
    });
    await openDashboard(site);
    expect(screen.getAllByRole('status').map(({ textContent }) => textContent)).toContain('Loading');
    expect(screen.queryByRole('img', { name: /essentials on/ })).toBeNull();
    held.open();
    expect(await screen.findByRole('img', { name: '7 of 10 essentials on' })).toBeDefined();
  });
});

describe('the protection score', () => {
  it('shows only the known figures', async () => {
    await openDashboard(site);
    expect(await screen.findByText('blocked in 7 days')).toBeDefined();
    expect(screen.getByText('318')).toBeDefined();
    expect(screen.queryByText('failed logins')).toBeNull();
  });

  it('says that the site is at risk, and lists the three most important steps', async () => {
    for (const field of Object.keys(site.options)) site.options[field] = 0;
    site.login.disable_usernames = 0;
    await openDashboard(site);
    expect(await screen.findByText('At risk')).toBeDefined();
    expect(screen.getByText('9 essentials are off. Start with these.')).toBeDefined();
    expect(screen.getByRole('heading', { name: 'Next steps 3 of 9' })).toBeDefined();
    const steps = document.querySelectorAll('.so-next b');
    expect(Array.from(steps, ({ textContent }) => textContent)).toEqual([
      'Two-factor Authentication',
      'Disable Common Usernames',
      'Custom Login URL',
    ]);
  });

  it('tells an essential that is not complete from one that is off', async () => {
    site.login.sg2fa = 1;
    site.login.two_factor_users = { total: 4, set_up: 1, users: [] } as typeof site.login.two_factor_users;
    await openDashboard(site);
    expect(await screen.findByText('3 essentials are off or not complete.')).toBeDefined();
  });

  it('has no steps if all ten essentials are on', async () => {
    site.options.disable_feed = 1;
    site.login.sg2fa = 1;
    site.login.login_url = site.login.login_url.map((item) => ({ ...item, selected: item.type === 'custom' ? 1 : 0 }));
    await openDashboard(site);
    expect(await screen.findByText('Fully protected')).toBeDefined();
    expect(screen.getByText('Nothing left to do')).toBeDefined();
    expect(screen.queryByRole('button', { name: 'Apply all recommended' })).toBeNull();
  });
});

describe('a next step', () => {
  it('makes the request of its row, counts at once, and moves the focus to the heading', async () => {
    site.login.sg2fa = 1;
    await openDashboard(site);
    const button = await screen.findByRole('button', { name: 'Turn on: Disable RSS and ATOM Feeds' });
    await userEvent.click(button);
    expect(await screen.findByRole('img', { name: '9 of 10 essentials on' })).toBeDefined();
    expect(site.options.disable_feed).toBe(1);
    expect(screen.queryByText('Disable RSS and ATOM Feeds')).toBeNull();
    await waitFor(() => expect(document.activeElement?.textContent).toBe('Next steps'));
    // The cards depend on the settings and are fetched again.
    await waitFor(() => expect(site.calls('/hardening')).toHaveLength(2));
  });

  it('stays with an error if saving fails', async () => {
    site.replies.set('/disable-feeds', () => refused(500, 'internal', 'Not today.'));
    await openDashboard(site);
    await userEvent.click(await screen.findByRole('button', { name: 'Turn on: Disable RSS and ATOM Feeds' }));
    expect(await screen.findByText('We couldn’t save this. The option is still off.')).toBeDefined();
    expect(screen.getByRole('img', { name: '7 of 10 essentials on' })).toBeDefined();
  });

  it('that enables the second factor leads to the setup', async () => {
    await openDashboard(site);
    await userEvent.click(await screen.findByRole('button', { name: 'Turn on: Two-factor Authentication' }));
    await waitFor(() => expect(visited).toEqual([site.login.two_factor_setup_url]));
  });

  it('that needs a URL opens the dialog of its row', async () => {
    await openDashboard(site);
    await userEvent.click(await screen.findByRole('button', { name: 'Configure: Custom Login URL' }));
    expect(await screen.findByRole('dialog', { name: 'Configure Login URL' })).toBeDefined();
    expect(site.calls('/custom-login-url')).toHaveLength(0);
  });

  it('that is the last one lets its dialog close normally, and the focus moves to the final text', async () => {
    site.options.disable_feed = 1;
    site.login.sg2fa = 1;
    await openDashboard(site);
    await userEvent.click(await screen.findByRole('button', { name: 'Configure: Custom Login URL' }));
    const dialog = await screen.findByRole('dialog', { name: 'Configure Login URL' });
    await userEvent.click(within(dialog).getByRole('radio', { name: /^Custom/ }));
    await userEvent.click(within(dialog).getByRole('button', { name: 'Save' }));
    await screen.findByText('Nothing left to do');
    expect(document.querySelector('.so-scrim.is-leaving')).not.toBeNull();
    await waitFor(() => expect(document.activeElement?.textContent).toBe('Nothing left to do'));
  });

  it('that is the last one and needs no dialog moves the focus to the final text, too', async () => {
    site.login.sg2fa = 1;
    site.login.login_url = site.login.login_url.map((item) => ({ ...item, selected: item.type === 'custom' ? 1 : 0 }));
    await openDashboard(site);
    await userEvent.click(await screen.findByRole('button', { name: 'Turn on: Disable RSS and ATOM Feeds' }));
    await screen.findByText('Nothing left to do');
    await waitFor(() => expect(document.activeElement?.textContent).toBe('Nothing left to do'));
  });
});

describe('a notification', () => {
  it('links to its fix, and keeps only the elements that the specification allows', async () => {
    site.overview.notifications = [
      notice('a', {
        title: '<em>Two</em> <span class="so-mono">plugins</span><img src=x onerror=alert(1)>',
        text: '<strong>Now</strong> <em>please</em> <a href="javascript:alert(1)">x</a>',
      }),
    ];
    await openDashboard(site);
    const title = await screen.findByRole('heading', { level: 3, name: 'Two plugins' });
    expect(title.innerHTML).toBe('<em>Two</em> <span class="so-mono">plugins</span>');
    expect(title.nextElementSibling?.innerHTML).toBe('<strong>Now</strong> please x');
    const link = screen.getByRole('link', { name: 'Review recipients: Two plugins' });
    expect(link.getAttribute('href')).toMatch(/#weekly-reports$/);
  });

  it('is in the owner’s language, with its numbers and names', async () => {
    const { english: title, code, params } = serverMessage('plugins_outdated', { count: { inWords: 2 } });
    const data = [notice('a', { title })];
    const texts = [{ at: '/data/0/title', code, params }];
    site.replies.set('/notifications', () => ({ body: { data, message: '', status: 200, texts } }));
    await openDashboard(site, {
      locale: JSON.stringify({
        '': { 'plural-forms': 'nplurals=2; plural=n != 1;' },
        plugins_outdated: ['Ein Plugin', '{count} Plugins'],
        Two: ['Zwei'],
      }),
    });
    expect(await screen.findByText('Zwei Plugins')).toBeDefined();
  });

  it('that could not be loaded is an error, not good news', async () => {
    site.replies.set('/notifications', () => refused(500, 'internal', 'Not today.'));
    await openDashboard(site);
    expect(await screen.findByText('We couldn’t check what needs your attention.')).toBeDefined();
    site.replies.clear();
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
    await waitFor(() => expect(screen.queryByText('Important Notifications')).toBeNull());
    await waitFor(() => expect(document.activeElement?.textContent).toBe('Security Optimizer'));
  });
});

describe('the e-book', () => {
  it('is beside the cards with title, text, image and link', async () => {
    site.overview.ebook = {
      title: 'A safer site',
      text: 'A short guide.',
      link: 'https://example.com/book',
      image: 'https://example.com/book.png',
    };
    await openDashboard(site);
    const panel = within(await screen.findByRole('complementary', { name: 'E-book' }));
    expect(panel.getByRole('heading', { name: 'A safer site' })).toBeDefined();
    expect(panel.getByRole('link').getAttribute('href')).toBe('https://example.com/book');
    const cover = document.querySelector('.so-ebook img') as Element;
    expect(cover.getAttribute('src')).toBe('https://example.com/book.png');
    fireEvent.error(cover);
    expect(document.querySelector('.so-ebook img')).toBeNull();
    expect(document.querySelector('.so-ebook > .so-tile svg')).not.toBeNull();
  });
});

describe('Rate Us', () => {
  it('is dismissed with show=0, and the focus moves on', async () => {
    site.overview.rate.show = 1;
    await openDashboard(site);
    await userEvent.click(await screen.findByRole('button', { name: 'Dismiss and don’t ask again' }));
    await waitFor(() => expect(screen.queryByText('Rate Us')).toBeNull());
    expect(site.sent('/rate')[1]).toEqual({ show: 0 });
    await waitFor(() => expect(document.activeElement?.textContent).toBe('Recent Activity'));
  });

  it('stays with an error if the dismissal could not be saved', async () => {
    site.overview.rate.show = 1;
    await openDashboard(site);
    const button = await screen.findByRole('button', { name: 'Dismiss and don’t ask again' });
    site.replies.set('/rate', () => refused(500, 'internal', 'Not today.'));
    await userEvent.click(button);
    await waitFor(() => expect(toastTexts()).toEqual(['Not today.']));
    expect(screen.getByText('Rate Us')).toBeDefined();
  });
});

describe('Recent Activity', () => {
  it('fetches the limited view and hides actions, refresh and filter', async () => {
    await openDashboard(site);
    const [head] = await tableTexts('Unknown Visitors Activity');
    expect(head).toEqual(['Time', 'Visitor', 'IP address', 'Page visited', 'Response']);
    expect(site.sent('/activity-unknown')[0]).toEqual({ limitedView: 1 });
    for (const name of [/Filter/, /Refresh/, /Actions/, /Load More/i]) {
      expect(screen.queryByRole('button', { name })).toBeNull();
    }
  });

  it('has the tabs Unknown and Registered only, and a link to the tab in the full log', async () => {
    await openDashboard(site);
    expect((await screen.findAllByRole('tab')).map(({ textContent }) => textContent)).toEqual([
      'Unknown',
      'Registered',
    ]);
    const link = () => screen.getByRole('link', { name: 'View all logs' }).getAttribute('href');
    expect(link()).toBe('http://example.com/wp-admin/admin.php?page=activity-log');
    await userEvent.click(screen.getByRole('tab', { name: 'Registered' }));
    const [head] = await tableTexts('Registered Users Activity');
    expect(head).toEqual(['Time', 'User', 'IP address', 'Activity']);
    expect(link()).toBe('http://example.com/wp-admin/admin.php?page=activity-log&log_tab=registered');
  });

  it('draws the visits of 7 days as an image with a table for screen readers', async () => {
    await openDashboard(site);
    expect(await screen.findByText('Last 7 days')).toBeDefined();
    expect(await screen.findByRole('table', { name: 'Traffic' })).toBeDefined();
    expect(screen.queryByRole('button', { name: /Show only this time/ })).toBeNull();
    const [body] = site.sent('/activity-traffic') as [{ from: number }];
    const days = (Date.now() / 1000 - body.from) / 86_400;
    expect(days).toBeGreaterThanOrEqual(6);
    expect(days).toBeLessThan(7.1);
  });

  it.each([
    [7, 'Mon 1'],
    [12, '1 Jan'],
  ])('gives each of %i days a unique label', async (days, name) => {
    const first = Date.UTC(2024, 0, 1) / 1000;
    site.log.traffic = Array.from({ length: days }, (_, index) => {
      const from = first + index * 86_400;
      return { from, to: from + 86_400, humans: 1, bots: 1, blocked: 1 };
    });
    await openDashboard(site);
    await screen.findByRole('table', { name: 'Traffic' });
    expect(document.querySelector('.so-chart__days li')?.textContent).toBe(name);
  });

  it('says that a list could not be loaded', async () => {
    site.replies.set('/activity-unknown', () => refused(500, 'internal', 'Not today.'));
    await openDashboard(site);
    expect(await screen.findByText('We couldn’t load this list.')).toBeDefined();
  });
});
