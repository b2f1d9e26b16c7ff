import { type Early, earlyAnswers } from './early/early-answers.js';
import { __ } from './i18n/translate.js';
import { CONTAINER_ID, mount } from './mount.js';
import { findPage } from './pages/registry.js';

declare global {
  interface Window {
    securityOptimizerEarly?: Early;
  }
}

/** Starts the dashboard once, as soon as its container is there. */
function start(): void {
  const container = document.getElementById(CONTAINER_ID);
  if (container === null || container.dataset.started !== undefined) return;
  container.dataset.started = '';
  watcher.disconnect();
  const fetch: typeof window.fetch = (input, init) => window.fetch(input, init);
  const navigate = (url: string): void => window.location.assign(url);
  const early = earlyAnswers(window.securityOptimizerEarly);
  mount(container, { address: window.location.href, fetch, navigate, early }).catch((error: unknown) => {
    container.textContent = __('The page could not be loaded. Reload it.', 'security-optimizer');
    throw error;
  });
}

// WordPress's own scripts hold up the page before and after the container, so both are used: to run this code, and to
// draw into the container while those behind it are not there yet.
const watcher = new MutationObserver(start);
const page = window.securityOptimizerEarly?.page;
// Whoever draws the page says when that failed.
if (page !== undefined)
  void findPage(page)
    .load()
    .catch(() => undefined);
start();
if (document.readyState === 'loading') {
  watcher.observe(document.documentElement, { childList: true, subtree: true });
  document.addEventListener('DOMContentLoaded', start);
}
