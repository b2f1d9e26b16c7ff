import { __ } from './i18n/translate.js';
import { CONTAINER_ID, mount } from './mount.js';

/** Starts the dashboard once, as soon as its container is there. */
function start(): void {
  const container = document.getElementById(CONTAINER_ID);
  if (container === null || container.dataset.started !== undefined) return;
  container.dataset.started = '';
  const fetch: typeof window.fetch = (input, init) => window.fetch(input, init);
  const navigate = (url: string): void => window.location.assign(url);
  mount(container, { address: window.location.href, fetch, navigate }).catch((error: unknown) => {
    container.textContent = __('The page could not be loaded. Reload it.', 'security-optimizer');
    throw error;
  });
}

// WordPress's own scripts hold up the rest of the page for a while; the container does not wait for them.
start();
if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start);
