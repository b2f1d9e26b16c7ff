import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import { ok, refused } from '../../../test/api-server.js';
import {
  findButton,
  openPostHack,
  type PostHackSite,
  startPostHackSite,
  textsOf,
} from '../../../test/post-hack-page.js';

let site: PostHackSite;
beforeEach(async () => {
  site = await startPostHackSite();
});

describe('the checkup', () => {
  const finding = {
    id: 'a',
    level: 'problem',
    title: 'Files were changed',
    text: '',
    link: '',
    link_text: '',
    items: [],
  };

  it('lists what was found part by part, with a link to where it is fixed', async () => {
    const items = Array.from({ length: 8 }, (_, place) => `wp-includes/file-${place}.php`);
    const fix = { link: 'https://example.com/wp-admin/update-core.php', link_text: 'Reinstall WordPress' };
    site.replies.set('/checkup', () =>
      ok({
        parts: [
          { part: 'core', title: 'WordPress files', error: '', findings: [{ ...finding, ...fix, items }] },
          { part: 'tasks', title: 'Scheduled tasks', error: 'WordPress could not look at this.', findings: [] },
        ],
      }),
    );
    await openPostHack(site);
    await userEvent.click(await findButton('Look for traces'));
    expect((await screen.findByRole('link', { name: 'Reinstall WordPress' })).getAttribute('href')).toBe(fix.link);
    expect(screen.getByText('WordPress could not look at this.')).toBeDefined();
    expect(textsOf('.so-found__items li')).toHaveLength(8);
    expect(textsOf('details summary')).toEqual(['3 more']);
    expect(textsOf('.so-card > .so-vh[role="status"]')).toContain('1 finding should be looked at.');
    expect(await findButton('Look again')).toBeDefined();
  });

  it('follows no link that would run code, and shows names as text', async () => {
    const hostile = '<img src=x onerror="window.broken=1">';
    const link = 'javascript:window.broken=1';
    site.replies.set('/checkup', () =>
      ok({ parts: [{ part: 'core', title: 'Files', error: '', findings: [{ ...finding, link, items: [hostile] }] }] }),
    );
    await openPostHack(site);
    await userEvent.click(await findButton('Look for traces'));
    expect(await screen.findByText(hostile)).toBeDefined();
    expect(document.querySelector('.so-found a, .so-found img')).toBeNull();
  });

  it('says when it could not look, and tries again', async () => {
    site.replies.set('/checkup', () => refused(502, 'wordpress_down', 'WordPress does not answer.'));
    await openPostHack(site);
    await userEvent.click(await findButton('Look for traces'));
    expect(await screen.findByText('We couldn’t look for traces.')).toBeDefined();
    site.replies.set('/checkup', () =>
      ok({ parts: [{ part: 'core', title: 'WordPress files', findings: [finding] }] }),
    );
    await userEvent.click(await findButton('Try again'));
    expect(await screen.findByText('Files were changed')).toBeDefined();
    expect(screen.queryByText('We couldn’t look for traces.')).toBeNull();
  });
});
