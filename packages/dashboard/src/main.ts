import { createPreloadedResponses, type Preloaded } from './api/preloaded-responses.js';
import { CONTAINER_ID, mount } from './app/mount.js';
import { findPage } from './app/pages.js';
import { __ } from './i18n/translate.js';

declare global {
  interface Window {
    securityOptimizerPreloaded?: Preloaded;
  }
}

/** Starts the dashboard once its container exists. */
function start(): void {
  const container = document.getElementById(CONTAINER_ID);
  if (container === null || container.dataset.started !== undefined) return;
  container.dataset.started = '';
  watcher.disconnect();
  const fetch: typeof window.fetch = (input, init) => window.fetch(input, init);
  const navigate = (url: string): void => window.location.assign(url);
  const preloaded = createPreloadedResponses(window.securityOptimizerPreloaded);
  mount(container, { address: window.location.href, fetch, navigate, preloaded }).catch((error: unknown) => {
    container.textContent = __('The page could not be loaded. Reload it.', 'security-optimizer');
    throw error;
  });
}

// Scripts of WordPress block the parser before and after the container. Start to load the page's code now, and draw as
// soon as the container exists.
const watcher = new MutationObserver(start);
const page = window.securityOptimizerPreloaded?.page;
// `mount` reports the failure.
if (page !== undefined)
  void findPage(page)
    .load()
    .catch(() => undefined);
start();
if (document.readyState === 'loading') {
  watcher.observe(document.documentElement, { childList: true, subtree: true });
  document.addEventListener('DOMContentLoaded', start);
}
