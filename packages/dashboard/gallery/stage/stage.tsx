import { locales } from 'virtual:locales';
import { pages } from '@security-optimizer/contract/pages';
import { useEffect } from 'react';
import { createRoot } from 'react-dom/client';
import { readConfig } from '../../src/api/config.js';
import { CONTAINER_ID, mount } from '../../src/app/mount.js';
import { createServices, ServicesProvider } from '../../src/app/services.js';
import { setLanguage } from '../../src/i18n/locale.js';
import { translate } from '../../src/i18n/translate.js';
import { freshSite } from '../../test/fake-site/responses.js';
import {
  type Example,
  type Group,
  isAlone,
  isPage,
  type PageExample,
  type PartExample,
  type Variant,
} from '../example.js';
import { groups } from '../groups/index.js';
import { fakeFetch, fixTime, menuPages, SITE } from './fake-site.js';
import { type Area, measureAreas } from './picture-area.js';
import { addStyles, force } from './styles.js';
import { settle, userActions } from './user-actions.js';

/** Shows examples. The capture script uses it; people use the URL. */
interface Stage {
  /**
   * Shows the sheet of a group, or one example.
   *
   * @returns the rectangles of the examples, once nothing moves
   * @throws Error if the example does not exist or cannot be drawn
   */
  show(id: string): Promise<readonly Area[]>;
}

declare global {
  interface Window {
    galleryStage?: Stage;
  }
}

/** Pages add their filters to the URL; the next example starts without them. */
const { search: ownQuery } = window.location;
const query = new URLSearchParams(ownQuery);
const variant: Variant = {
  width: 1440,
  dir: query.get('dir') === 'rtl' ? 'rtl' : 'ltr',
  language: (['de', 'pseudo'] as const).find((name) => name === query.get('language')) ?? 'en',
};
const forPictures = query.has('pictures');

let clear = (): void => undefined;

async function show(id: string): Promise<readonly Area[]> {
  clear();
  clear = () => undefined;
  window.scrollTo(0, 0);
  const group = groups.find((item) => item.id === id || item.examples.some((example) => example.id === id));
  if (group === undefined) throw new Error(`There is no example ${id}.`);
  const example = group.examples.find((item) => item.id === id);
  clear =
    example !== undefined && isPage(example) ? await openPage(content, example, variant) : drawSheet(group, example);
  await settle();
  if (example?.act) {
    await example.act(userActions(translate));
    await settle();
  }
  if (forPictures) endAnimations();
  return measureAreas(example === undefined ? group.examples.filter((item) => !isAlone(item)) : [example]);
}

/** Finishes animations, so that elements are measured at their final positions. Spinners never end. */
function endAnimations(): void {
  for (const animation of document.getAnimations()) {
    if (Number.isFinite(animation.effect?.getComputedTiming().endTime)) animation.finish();
  }
}

function drawSheet(group: Group, example: Example | undefined): () => void {
  if (example !== undefined) return drawParts(content, { group, examples: [example], toAddress: null }, variant);
  const examples = forPictures ? group.examples.filter((item) => !isAlone(item)) : group.examples;
  return drawParts(content, { group, examples, toAddress: addressIn }, variant);
}

function addressIn(id: string): string {
  const inner = new URLSearchParams(query);
  inner.set('show', id);
  return `?${inner}`;
}

interface DrawnParts {
  readonly group: Group;
  readonly examples: readonly Example[];
  /** URL of the stage with a single example, for one that can't be on a sheet; null if all given examples can. */
  readonly toAddress: ((id: string) => string) | null;
}

/**
 * Draws parts one below the other, each under its title.
 *
 * @returns a function that removes them; throws the error of a part that could not be drawn
 */
function drawParts(content: HTMLElement, parts: DrawnParts, variant: Variant): () => void {
  const container = document.createElement('div');
  container.className = 'so so-app';
  container.dataset.config = JSON.stringify(sampleConfig(variant));
  const portal = document.createElement('div');
  portal.className = 'so so-portal';
  content.append(container);
  document.body.append(portal);
  const config = readConfig(container, `${SITE}/wp-admin/admin.php`);
  setLanguage(config.localeSlug, config.localeData);
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

function Sheet({ group, examples, toAddress }: DrawnParts) {
  return (
    <section className="g-sheet">
      <h2>{group.title}</h2>
      <div className={group.small ? 'g-sheet__list is-small' : 'g-sheet__list'}>
        {examples.map((example) =>
          toAddress !== null && isAlone(example) ? (
            <Framed key={example.id} example={example} address={toAddress(example.id)} />
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

/** Frames an example that covers the page or takes the focus, which needs its own document. */
function Framed({ example, address }: { readonly example: Example; readonly address: string }) {
  return (
    <figure className="g-example">
      <figcaption>{example.title}</figcaption>
      <iframe className="g-frame" title={example.title} src={address} loading="lazy" />
    </figure>
  );
}

/**
 * Opens a page as wp-admin does: a printed container, then the start of the client.
 *
 * @returns a function that removes it
 */
async function openPage(content: HTMLElement, example: PageExample, variant: Variant): Promise<() => void> {
  const site = freshSite();
  example.site?.(site);
  const container = document.createElement('div');
  container.id = CONTAINER_ID;
  container.className = 'so so-app';
  container.dataset.page = example.page;
  container.dataset.config = JSON.stringify({ ...sampleConfig(variant), ...example.config });
  content.append(container);
  const { pathname } = window.location;
  window.history.replaceState(null, '', pathname + ownQuery + (example.hash === undefined ? '' : `#${example.hash}`));
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

const WORDPRESS = [
  'Posts',
  'Media',
  'Pages',
  'Comments',
  '',
  'Appearance',
  'Plugins',
  'Users',
  'Tools',
  'Settings',
  '',
];

/**
 * Draws the surroundings in wp-admin: the bar, the menu and the grey page. It only imitates their sizes and colours
 * only.
 *
 * @returns the element for the content
 */
function drawFrame(root: HTMLElement): HTMLElement {
  const bar = element('div', 'wp-bar', element('b', '', 'Example site'), element('span', '', 'Howdy, owner'));
  const menu = element(
    'ul',
    'wp-menu',
    ...WORDPRESS.map((text) => element('li', text === '' ? 'is-gap' : '', text)),
    element('li', 'is-current', 'Security Optimizer'),
    ...pages.map(({ title }) => element('li', 'is-sub', title.replace(/^.* - /, ''))),
  );
  for (const part of [bar, menu]) part.setAttribute('aria-hidden', 'true');
  const content = element('div', 'wp-content');
  root.replaceChildren(bar, element('div', 'wp-back'), menu, content);
  return content;
}

function element(tag: string, className: string, ...children: readonly (Node | string)[]): HTMLElement {
  const made = document.createElement(tag);
  if (className !== '') made.className = className;
  made.append(...children);
  return made;
}

/** Dates in English for the pseudo-locale, which no browser knows. */
const SLUGS = { en: 'en-GB', de: 'de-DE', pseudo: 'en-GB' } as const;

/** The configuration that the connector prints on an ordinary site. */
function sampleConfig({ language }: Pick<Variant, 'language'>): Record<string, unknown> {
  return {
    rest_base: `${SITE}/wp-json/`,
    wp_nonce: 'aaaaaaaaaa',
    nonce_url: `${SITE}/wp-admin/admin-ajax.php?action=rest-nonce`,
    home_url: `${SITE}/`,
    log_page_url: `${SITE}/wp-admin/admin.php?page=activity-log`,
    assets_path: `${SITE}/assets/`,
    pages: menuPages,
    localeSlug: SLUGS[language],
    ...(language === 'en' ? {} : { locale: locales[language] }),
  };
}

fixTime();
document.documentElement.dir = variant.dir;
document.documentElement.lang = variant.language === 'de' ? 'de' : 'en';
const content = drawFrame(document.getElementById('stage') as HTMLElement);
await addStyles(variant.dir, forPictures);
const first = query.get('show');
if (first !== null) await show(first);
window.galleryStage = { show };
