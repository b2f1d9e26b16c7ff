import type { Config } from '../src/api/config.js';
import { createServices, type Services } from '../src/app/services.js';

/** Services for a component that is drawn alone, with a portal at the end of the body. */
export function testServices(config: Config): Services {
  const portal = document.createElement('div');
  document.body.append(portal);
  return createServices(config, {
    address: window.location.href,
    fetch: globalThis.fetch,
    portal,
    navigate: (url) => {
      throw new Error(`Unexpected navigation to ${url}.`);
    },
  });
}
