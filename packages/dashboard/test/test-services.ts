import type { Config } from '../src/config/config.js';
import { createServices, type Services } from '../src/services.js';

/** The services of a part that is drawn alone, with a portal at the end of the body. */
export function testServices(config: Config): Services {
  const portal = document.createElement('div');
  document.body.append(portal);
  return createServices(config, {
    address: window.location.href,
    fetch: globalThis.fetch,
    portal,
    navigate: (url) => {
      throw new Error(`Nothing here leads to ${url}.`);
    },
  });
}
