import { fireEvent, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import { ok, refused } from '../../../test/fake-site/server.js';
import { type FakeSite, gate, startFakeSite, store, toPage } from '../../../test/fake-site/site.js';
import { findSwitch, openPage, toastTexts, withinRow } from '../../../test/pages/open-page.js';

const XSS = 'Advanced XSS Protection';
const RPC = 'Disable XML-RPC';
const FEEDS = 'Disable RSS and ATOM Feeds';
const README = 'Delete the Default Readme.html';

let site: FakeSite;
beforeEach(async () => {
  site = await startFakeSite();
});

describe('the Site Security page', () => {
  it('shows placeholder rows without a state while the options load', async () => {
    const held = gate();
    site.replies.set('/fetch-options', async () => {
      await held.opened;
      return ok(site.options);
    });
    await openPage(site);
    expect(screen.getByRole('status').textContent).toBe('Loading');
    expect(document.querySelectorAll('.so-row--sk')).toHaveLength(7);
    expect(screen.queryAllByRole('switch')).toHaveLength(0);
    expect(screen.queryByText(/essentials on/)).toBeNull();
    held.open();
    expect(await screen.findAllByRole('switch')).toHaveLength(7);
    expect(document.querySelectorAll('.so-row--sk')).toHaveLength(0);
  });

  it('fetches its options with the nonce and as JSON', async () => {
    await openPage(site);
    await findSwitch(XSS);
    const [call] = site.calls('/fetch-options');
    expect(call?.method).toBe('POST');
    expect(JSON.parse(call?.body ?? '')).toEqual({ page: 'security' });
    expect(call?.headers.accept).toBe('application/json');
    expect(call?.headers['x-wp-nonce']).toBe('aaaaaaaaaa');
  });

  it('shows the rows with their states in the order of the specification', async () => {
    await openPage(site);
    await findSwitch(XSS);
    expect(screen.getAllByRole('switch').map((item) => item.getAttribute('aria-checked'))).toEqual([
      'true',
      'true',
      'true',
      'true',
      'false',
      'true',
      'false',
    ]);
    expect(screen.getAllByRole('heading', { level: 3 }).map((title) => title.firstElementChild?.textContent)).toEqual([
      'Lock and Protect System Folders',
      'Hide WordPress Version',
      'Disable Themes & Plugins Editor',
      RPC,
      FEEDS,
      XSS,
      README,
    ]);
  });

  it('marks essentials that are off as recommended, but never the readme', async () => {
    await openPage(site);
    expect(withinRow(await findSwitch(FEEDS)).queryByText('recommended')).not.toBeNull();
    expect(withinRow(await findSwitch(XSS)).queryByText('recommended')).toBeNull();
    const readme = await findSwitch(README);
    expect(readme.getAttribute('aria-checked')).toBe('false');
    expect(withinRow(readme).queryByText('recommended')).toBeNull();
  });

  it('counts the essentials without the readme', async () => {
    site.options.delete_readme = 1;
    await openPage(site);
    expect(await screen.findByText('5 of 6 essentials on')).toBeDefined();
    expect(document.querySelectorAll('.so-meter__bar i')).toHaveLength(6);
    expect(document.querySelectorAll('.so-meter__bar i.is-on')).toHaveLength(5);
  });

  it('omits a row whose value the server does not know', async () => {
    delete site.options.xss_protection;
    await openPage(site);
    await findSwitch(RPC);
    expect(screen.queryByRole('switch', { name: XSS })).toBeNull();
    expect(screen.getByText('4 of 5 essentials on')).toBeDefined();
  });

  it('says that the options could not be loaded and loads them on request', async () => {
    site.replies.set('/fetch-options', () => refused(503, 'wordpress_unreachable', 'WordPress does not answer.'));
    await openPage(site);
    const again = await screen.findByRole('button', { name: 'Try again' });
    expect(screen.getAllByText(/WordPress does not answer\./).length).toBeGreaterThan(0);
    expect(screen.queryAllByRole('switch')).toHaveLength(0);
    site.replies.clear();
    await userEvent.click(again);
    expect(await screen.findAllByRole('switch')).toHaveLength(7);
    // The button is removed; the focus is on the rows.
    await waitFor(() => expect(document.activeElement?.textContent).toBe('Site Security'));
  });

  it('shows changes of another tab once the page is visible again, and nothing older than its own changes', async () => {
    await openPage(site);
    const feeds = await findSwitch(FEEDS);
    site.options.disable_feed = 1;
    fireEvent(document, new Event('visibilitychange', { bubbles: true }));
    await waitFor(() => expect(feeds.getAttribute('aria-checked')).toBe('true'));
    const held = gate();
    site.replies.set('/fetch-options', async () => {
      await held.opened;
      return ok({ ...site.options, disable_feed: 1 });
    });
    fireEvent(document, new Event('visibilitychange', { bubbles: true }));
    await userEvent.click(feeds);
    await waitFor(() => expect(site.options.disable_feed).toBe(0));
    await waitFor(() => expect(feeds.getAttribute('aria-busy')).toBeNull());
    held.open();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(feeds.getAttribute('aria-checked')).toBe('false');
  });

  it('says that the response has no options', async () => {
    site.replies.set('/fetch-options', () => ok(null));
    await openPage(site);
    expect(await screen.findByText(/We couldn’t load the options/)).toBeDefined();
  });
});

describe('a switch', () => {
  it('shows the new value at once, is busy while it is saved, and then confirms it', async () => {
    const held = gate();
    site.replies.set('/disable-feeds', async (call) => {
      await held.opened;
      return store(site, '/disable-feeds', call.body);
    });
    await openPage(site);
    const feeds = await findSwitch(FEEDS);
    await userEvent.click(feeds);
    expect(feeds.getAttribute('aria-checked')).toBe('true');
    expect(feeds.getAttribute('aria-busy')).toBe('true');
    expect(feeds.textContent).toContain('Saving…');
    expect(withinRow(feeds).queryByText('recommended')).toBeNull();
    expect(screen.getByText('6 of 6 essentials on')).toBeDefined();
    held.open();
    await waitFor(() => expect(feeds.getAttribute('aria-busy')).toBeNull());
    expect(feeds.getAttribute('aria-checked')).toBe('true');
    await waitFor(() => expect(toastTexts()).toEqual(['Feeds are turned off.']));
    expect(site.sent('/disable-feeds')[0]).toEqual({ disable_feed: 1 });
  });

  it('ignores clicks while it is being saved', async () => {
    const held = gate();
    site.replies.set('/disable-feeds', async (call) => {
      await held.opened;
      return store(site, '/disable-feeds', call.body);
    });
    await openPage(site);
    const feeds = await findSwitch(FEEDS);
    await userEvent.click(feeds);
    await userEvent.click(feeds);
    feeds.click();
    held.open();
    await waitFor(() => expect(feeds.getAttribute('aria-busy')).toBeNull());
    expect(site.calls('/disable-feeds')).toHaveLength(1);
    expect(feeds.getAttribute('aria-checked')).toBe('true');
  });

  it('restores the value if saving fails, and shows the error in its row', async () => {
    site.replies.set('/disable-feeds', () => refused(500, 'internal', 'Something went wrong on our side.'));
    await openPage(site);
    const feeds = await findSwitch(FEEDS);
    await userEvent.click(feeds);
    const message = await withinRow(feeds).findByRole('alert');
    expect(message.textContent).toBe('We couldn’t save this. The option is still off. Try again');
    expect(feeds.getAttribute('aria-checked')).toBe('false');
    expect(withinRow(feeds).queryByText('recommended')).not.toBeNull();
    await waitFor(() => expect(toastTexts()).toEqual(['Something went wrong on our side.']));
  });

  it('says that the option is still on if switching it off fails', async () => {
    site.replies.set('/xss-protection', () => refused(500, 'internal', 'No.'));
    await openPage(site);
    const xss = await findSwitch(XSS);
    await userEvent.click(xss);
    expect((await withinRow(xss).findByRole('alert')).textContent).toContain('The option is still on.');
    expect(xss.getAttribute('aria-checked')).toBe('true');
  });

  it('retries with the wanted value, keeps the focus and removes the old toasts', async () => {
    site.replies.set('/disable-feeds', () => refused(500, 'internal', 'No.'));
    await openPage(site);
    const feeds = await findSwitch(FEEDS);
    await userEvent.click(feeds);
    const again = await withinRow(feeds).findByRole('button', { name: 'Try again' });
    site.replies.clear();
    await userEvent.click(again);
    await waitFor(() => expect(document.activeElement).toBe(feeds));
    await waitFor(() => expect(toastTexts()).toEqual(['Feeds are turned off.']));
    expect(feeds.getAttribute('aria-checked')).toBe('true');
    expect(withinRow(feeds).queryByRole('alert')).toBeNull();
  });

  it('does not wait for another one; each row shows its own result', async () => {
    const slow = gate();
    site.replies.set('/disable-feeds', async (call) => {
      await slow.opened;
      return store(site, '/disable-feeds', call.body);
    });
    site.replies.set('/xss-protection', () => refused(500, 'internal', 'No.'));
    await openPage(site);
    const [feeds, rpc, xss] = [await findSwitch(FEEDS), await findSwitch(RPC), await findSwitch(XSS)];
    await userEvent.click(feeds);
    await userEvent.click(rpc);
    await userEvent.click(xss);
    await waitFor(() => expect(rpc.getAttribute('aria-busy')).toBeNull());
    await withinRow(xss).findByRole('alert');
    expect(feeds.getAttribute('aria-busy')).toBe('true');
    slow.open();
    await waitFor(() => expect(feeds.getAttribute('aria-busy')).toBeNull());
    expect([feeds, rpc, xss].map((item) => item.getAttribute('aria-checked'))).toEqual(['true', 'false', 'true']);
  });

  it('ends with the value of the response, even if another one was sent', async () => {
    site.replies.set('/disable-feeds', () => ok({ disable_feed: 0 }));
    await openPage(site);
    const feeds = await findSwitch(FEEDS);
    await userEvent.click(feeds);
    await waitFor(() => expect(toastTexts()).toEqual(['Feeds are turned on.']));
    expect(feeds.getAttribute('aria-checked')).toBe('false');
  });

  it('says in a neutral toast that a protection is off, and switches it on again', async () => {
    await openPage(site);
    const xss = await findSwitch(XSS);
    await userEvent.click(xss);
    await waitFor(() => expect(toastTexts()).toEqual(['Advanced XSS protection is turned off.']));
    expect(document.querySelector('.so-toast')?.textContent).not.toContain('Success');
    await userEvent.click(screen.getByRole('button', { name: 'Undo' }));
    await waitFor(() => expect(xss.getAttribute('aria-checked')).toBe('true'));
    await waitFor(() => expect(toastTexts()).toEqual(['Advanced XSS protection is turned on.']));
    expect(site.options.xss_protection).toBe(1);
  });

  it('counts in the ring at once, and is reverted there if saving fails', async () => {
    const held = gate();
    site.replies.set('/disable-feeds', async () => {
      await held.opened;
      return refused(500, 'internal', 'No.');
    });
    await openPage(site);
    await screen.findByRole('img', { name: '7 of 10 essentials on' });
    await userEvent.click(await findSwitch(FEEDS));
    await screen.findByRole('img', { name: '8 of 10 essentials on' });
    held.open();
    await screen.findByRole('img', { name: '7 of 10 essentials on' });
  });

  it('leaves it to the server to say that something could not be done', async () => {
    const message = 'Saved, but the file could not be deleted.';
    site.replies.set('/delete-readme', () => ok({ delete_readme: 1 }, message));
    await openPage(site);
    await userEvent.click(await findSwitch(README));
    await waitFor(() => expect(toastTexts()).toEqual([message]));
  });

  it('finds out whether a change with a lost response was made', async () => {
    site.replies.set('/disable-feeds', (call) => {
      store(site, '/disable-feeds', call.body);
      return null;
    });
    await openPage(site);
    const feeds = await findSwitch(FEEDS);
    await userEvent.click(feeds);
    await waitFor(() =>
      expect(
        site
          .calls('/fetch-options')
          .map(toPage)
          .filter((page) => page === 'security'),
      ).toHaveLength(2),
    );
    await waitFor(() => expect(feeds.getAttribute('aria-checked')).toBe('true'));
    expect(withinRow(feeds).queryByRole('alert')).toBeNull();
    await waitFor(() => expect(toastTexts()).toEqual([]));
  });

  it('works with the keyboard alone', async () => {
    await openPage(site);
    await findSwitch(FEEDS);
    for (let row = 0; row < 5; row++) await userEvent.tab();
    expect(document.activeElement).toBe(await findSwitch(FEEDS));
    await userEvent.keyboard(' ');
    await waitFor(() => expect(site.options.disable_feed).toBe(1));
  });
});

describe('the session', () => {
  it('is continued with a renewed nonce, renewed once for requests that fail at the same time', async () => {
    await openPage(site);
    const [feeds, rpc] = [await findSwitch(FEEDS), await findSwitch(RPC)];
    site.nonce = 'bbbbbbbbbb';
    await userEvent.click(feeds);
    await userEvent.click(rpc);
    // Both requests are repeated at the same time; either response may be first.
    await waitFor(() => expect([...toastTexts()].sort()).toEqual(['Feeds are turned off.', 'XML-RPC is turned on.']));
    expect(site.nonceCalls()).toBe(1);
    expect(site.options).toMatchObject({ disable_feed: 1, disable_xml_rpc: 0 });
  });

  it('shows one toast with a login link once it has ended', async () => {
    await openPage(site);
    const [feeds, rpc] = [await findSwitch(FEEDS), await findSwitch(RPC)];
    site.nonce = null;
    await userEvent.click(feeds);
    await userEvent.click(rpc);
    const link = await screen.findByRole('link', { name: 'Log in' });
    expect(link.getAttribute('href')).toBe(
      `http://example.com/wp-login.php?redirect_to=${encodeURIComponent(window.location.href)}`,
    );
    await withinRow(rpc).findByRole('alert');
    expect(document.querySelectorAll('.so-toast')).toHaveLength(1);
    expect(feeds.getAttribute('aria-checked')).toBe('false');
    site.nonce = 'cccccccccc';
    await userEvent.click(withinRow(feeds).getByRole('button', { name: 'Try again' }));
    await waitFor(() => expect(toastTexts()).toEqual(['Feeds are turned off.']));
  });
});

describe('the row of XML-RPC', () => {
  const help = async () => withinRow(await findSwitch(RPC));

  it('does not mention signed requests while no plugin needs them', async () => {
    await openPage(site);
    await waitFor(() => expect(site.calls('/signed-xml-rpc')).toHaveLength(1));
    expect((await help()).queryByText(/Signed requests/)).toBeNull();
  });

  it('names the plugin whose signed requests are still allowed, and lets the owner refuse them', async () => {
    site.signedXmlRpc.plugins = [{ id: 'jetpack', name: 'Jetpack' }];
    await openPage(site);
    expect(await (await help()).findByText(/Signed requests of Jetpack still get through\./)).toBeDefined();
    await userEvent.click((await help()).getByRole('button', { name: 'Refuse them, too' }));
    expect(await (await help()).findByText(/Signed requests of Jetpack are refused, too\./)).toBeDefined();
    await waitFor(() => expect(site.signedXmlRpc.signed_xml_rpc).toBe(0));
    await waitFor(async () =>
      expect((await help()).getByRole('button').getAttribute('aria-disabled')).not.toBe('true'),
    );
    await userEvent.click((await help()).getByRole('button', { name: 'Let them through' }));
    await waitFor(() => expect(site.signedXmlRpc.signed_xml_rpc).toBe(1));
  });

  it('does not mention them while XML-RPC is on, or if the server lacks the endpoint', async () => {
    site.signedXmlRpc.plugins = [{ id: 'jetpack', name: 'Jetpack' }];
    site.options.disable_xml_rpc = 0;
    await openPage(site);
    await findSwitch(RPC);
    expect(site.calls('/signed-xml-rpc')).toHaveLength(0);
    site.options.disable_xml_rpc = 1;
    site.replies.set('/signed-xml-rpc', () => refused(404, 'rest_no_route', 'No route.'));
    await userEvent.click(await findSwitch(RPC));
    await waitFor(() => expect(site.calls('/signed-xml-rpc')).toHaveLength(1));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(toastTexts().join()).not.toContain('No route.');
    expect((await help()).queryByText(/Signed requests/)).toBeNull();
  });
});
