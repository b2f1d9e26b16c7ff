import { CONTAINER_ID, mount } from '../../src/mount.js';
import { freshSite } from '../../test/site-answers.js';
import type { Look, PageExample } from '../example.js';
import { fakeFetch, SITE } from './fake-fetch.js';
import { sampleConfig } from './sample-config.js';

/**
 * Opens a page as wp-admin does: a printed container, then the start of the client.
 *
 * @returns takes it away again
 */
export async function openPage(content: HTMLElement, example: PageExample, look: Look): Promise<() => void> {
  const site = freshSite();
  example.site?.(site);
  const container = document.createElement('div');
  container.id = CONTAINER_ID;
  container.className = 'so so-app';
  container.dataset.page = example.page;
  container.dataset.config = JSON.stringify({ ...sampleConfig(look), ...example.config });
  content.append(container);
  const { pathname, search } = window.location;
  window.history.replaceState(null, '', pathname + search + (example.hash === undefined ? '' : `#${example.hash}`));
  const close = await mount(container, {
    address: `${SITE}/wp-admin/admin.php`,
    fetch: fakeFetch(site),
    navigate: () => undefined,
  });
  return () => {
    close();
    container.remove();
  };
}
