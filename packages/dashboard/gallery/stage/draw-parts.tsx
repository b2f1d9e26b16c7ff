import { useEffect } from 'react';
import { createRoot } from 'react-dom/client';
import { readConfig } from '../../src/config/read-config.js';
import { loadLocale } from '../../src/i18n/load-locale.js';
import { tellMomentsIn } from '../../src/i18n/moments.js';
import { createServices, ServicesProvider } from '../../src/services.js';
import { freshSite } from '../../test/site-answers.js';
import { type Example, type Group, isAlone, type Look, type PartExample } from '../example.js';
import { fakeFetch, SITE } from './fake-fetch.js';
import { force } from './forced-states.js';
import { sampleConfig } from './sample-config.js';

export interface DrawnParts {
  readonly group: Group;
  readonly examples: readonly Example[];
  /** Address of the stage with one example alone, for those that cannot stand on a sheet; null: all that are given do. */
  readonly addressOf: ((id: string) => string) | null;
}

/**
 * Draws parts one below the other, each under its title.
 *
 * @returns takes them away again; throws what went wrong while they were drawn
 */
export function drawParts(content: HTMLElement, parts: DrawnParts, look: Look): () => void {
  const container = document.createElement('div');
  container.className = 'so so-app';
  container.dataset.config = JSON.stringify(sampleConfig(look));
  const portal = document.createElement('div');
  portal.className = 'so so-portal';
  content.append(container);
  document.body.append(portal);
  const config = readConfig(container, `${SITE}/wp-admin/admin.php`);
  loadLocale(config.localeData);
  tellMomentsIn(config.localeSlug);
  const fetch = fakeFetch(freshSite());
  const services = createServices(config, { address: SITE, fetch, portal, navigate: () => undefined });

  const errors: unknown[] = [];
  const root = createRoot(container, { onUncaughtError: (error) => errors.push(error) });
  root.render(
    <ServicesProvider services={services}>
      <div className="so-wrap">
        <Sheet {...parts} />
      </div>
    </ServicesProvider>,
  );
  return () => {
    root.unmount();
    container.remove();
    portal.remove();
    if (errors.length > 0) throw errors[0];
  };
}

function Sheet({ group, examples, addressOf }: DrawnParts) {
  return (
    <section className="g-sheet">
      <h2>{group.title}</h2>
      <div className={group.small ? 'g-sheet__list is-small' : 'g-sheet__list'}>
        {examples.map((example) =>
          addressOf !== null && isAlone(example) ? (
            <Framed key={example.id} example={example} address={addressOf(example.id)} />
          ) : (
            <Part key={example.id} example={example as PartExample} />
          ),
        )}
      </div>
    </section>
  );
}

function Part({ example }: { readonly example: PartExample }) {
  const { id, ground = 'card', room } = example;
  useEffect(() => {
    const box = document.getElementById(id);
    if (example.force !== undefined && box !== null) force(box, example.force);
  }, [id, example]);
  return (
    <figure className="g-example">
      <figcaption>{example.title}</figcaption>
      <div className={`g-box is-on-${ground}`} id={id} style={{ paddingBottom: room }}>
        {example.draw()}
      </div>
    </figure>
  );
}

/** What covers the page or takes the focus has a document of its own, also among others. */
function Framed({ example, address }: { readonly example: Example; readonly address: string }) {
  return (
    <figure className="g-example">
      <figcaption>{example.title}</figcaption>
      <iframe className="g-frame" title={example.title} src={address} loading="lazy" />
    </figure>
  );
}
