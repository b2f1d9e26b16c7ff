import { notice } from '../../test/fake-site/overview.js';
import { ok, refused } from '../../test/fake-site/replies.js';
import type { SiteState } from '../../test/fake-site/responses.js';
import type { Group, PageExample } from '../example.js';
import { held } from '../stage/fake-site.js';
import { allSet, atRisk, busyWeek, emptyLog } from './samples.js';

const page = 'SECURITY_DASHBOARD';

const RECENT = '.so-main section:last-of-type';

function withNotifications(site: SiteState): void {
  busyWeek(site);
  site.overview.notifications = [
    notice('updates', {
      level: 'danger',
      title: '3 plugins have known holes',
      text: 'Update them now. <strong>Attackers look for them.</strong>',
      button_text: 'Update plugins',
    }),
    notice('report'),
    notice('news', { level: 'info', title: 'The server clock is 12 minutes late', text: 'Codes may be refused.' }),
  ];
}

/** Everything that a provider may add. */
function withOffers(site: SiteState): void {
  busyWeek(site);
  site.overview.ebook = {
    title: 'WordPress security for owners',
    text: 'Forty pages without jargon.',
    link: 'http://example.com/e-book',
    image: '',
  };
  site.overview.rate = { show: 1, link: 'http://example.com/review' };
}

function loadForever(site: SiteState): void {
  for (const suffix of ['/notifications', '/hardening', '/e-book', '/rate', '/protection-facts', '/fetch-options'])
    site.replies.set(suffix, held);
  for (const suffix of ['/activity-unknown', '/activity-registered', '/activity-traffic'])
    site.replies.set(suffix, held);
}

function nothingWorks(site: SiteState): void {
  for (const suffix of ['/notifications', '/hardening', '/fetch-options', '/activity-unknown', '/activity-traffic'])
    site.replies.set(suffix, () => refused(503, 'wordpress_down', 'WordPress does not answer.'));
}

function one(state: string, title: string, example: Partial<PageExample> = {}): PageExample {
  return { id: `dashboard-${state}`, title, page, site: busyWeek, ...example };
}

export const dashboardPage: Group = {
  id: 'page-dashboard',
  title: 'Page: Security Dashboard',
  examples: [
    one('partly', 'partly protected', { variants: ['middle', 'phone', 'rtl', 'german'] }),
    one('at-risk', 'at risk', { site: atRisk, variants: ['phone'] }),
    one('all-set', 'all set', { site: allSet, variants: ['phone'] }),
    one('notifications', 'with notifications', { site: withNotifications, variants: ['phone'] }),
    one('offers', 'with e-book and rating', { site: withOffers, variants: ['phone'] }),
    one('loading', 'loading', { site: loadForever, variants: ['phone'] }),
    one('failed', 'nothing could be read', { site: nothingWorks }),
    one('no-visits', 'a site without visits', { site: emptyLog, area: RECENT }),
    one('registered', 'recent activity of users', { area: RECENT, act: (user) => user.click('tab', 'Registered') }),
    one('apply', 'apply all recommended', {
      site: atRisk,
      act: (user) => user.click('button', 'Apply all recommended'),
      variants: ['phone', 'german'],
    }),
    one('consent', 'asks for consent', {
      config: { data_consent_popup: { show_data_field: 1, show_email_field: 1 } },
      variants: ['phone'],
    }),
    one('step-failed', 'a next step failed', {
      area: '.so-head',
      site: (site) => {
        atRisk(site);
        site.replies.set('/2fa', () => refused(500, 'internal', 'An error occurred. Please try again later'));
      },
      act: (user) => user.click('button', /Two-factor Authentication/),
    }),
    one('dismissing', 'rating, being dismissed', {
      area: '.so-rate',
      site: (site) => {
        withOffers(site);
        site.replies.set('/rate', ({ body }) => (body.includes('show') ? held() : ok({ show: 1, link: '' })));
      },
      act: (user) => user.click('button', 'Dismiss and don’t ask again'),
    }),
  ],
};
