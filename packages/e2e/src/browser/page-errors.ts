import type { ConsoleMessage, Page, Request, Response } from 'playwright-core';

/**
 * Collects the errors of a page: console errors, script errors and failed requests to this site. Requests to other
 * sites are ignored, since tests run without a network.
 */
export function watchPage(page: Page, siteUrl: string): { stop(): string[] } {
  const wrong: string[] = [];
  const ours = (url: string) => url.startsWith(siteUrl);
  const onConsole = (message: ConsoleMessage) => {
    const from = message.location().url;
    if (message.type() === 'error' && (from === '' || ours(from))) wrong.push(`console: ${message.text()} (${from})`);
  };
  const onFault = (error: Error) => wrong.push(`script: ${error.message}`);
  const onFailed = (request: Request) => {
    const reason = request.failure()?.errorText ?? '';
    // Leaving a page aborts its pending requests.
    if (ours(request.url()) && reason !== 'net::ERR_ABORTED') wrong.push(`failed: ${request.url()} ${reason}`);
  };
  const onResponse = (response: Response) => {
    if (ours(response.url()) && response.status() >= 400) wrong.push(`${response.status()}: ${response.url()}`);
  };
  page.on('console', onConsole);
  page.on('pageerror', onFault);
  page.on('requestfailed', onFailed);
  page.on('response', onResponse);
  return {
    stop() {
      page.off('console', onConsole);
      page.off('pageerror', onFault);
      page.off('requestfailed', onFailed);
      page.off('response', onResponse);
      return wrong;
    },
  };
}
