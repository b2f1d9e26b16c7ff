import { pages } from '@security-optimizer/contract/pages';
import { siteSecurityToggles } from '@security-optimizer/contract/settings/protections';
import { render, waitFor } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ApiServer, type Reply, startApiServer } from '../../test/fake-site/server.js';
import { testServices } from '../../test/test-services.js';
import { readConfig } from '../api/config.js';
import { ServicesProvider } from '../app/services.js';
import { bundledIcons, Icon } from './icon.js';

const CIRCLE = '<circle cx="10" cy="10" r="7"></circle>';

let server: ApiServer;
let files: Record<string, Reply>;
beforeEach(async () => {
  files = {};
  server = await startApiServer((call) => files[call.url] ?? { status: 404, body: 'Not found' });
});

function draw(name: string): SVGElement {
  const container = document.createElement('div');
  container.dataset.config = JSON.stringify({ assets_path: `${server.origin}/assets/` });
  const services = testServices(readConfig(container, window.location.href));
  const view = render(
    <ServicesProvider services={services}>
      <Icon name={name} />
    </ServicesProvider>,
  );
  return view.container.querySelector('svg') as SVGElement;
}

describe('an icon', () => {
  it('of the set is drawn at once, without a request, and is hidden from screen readers', () => {
    const svg = draw('check');
    expect(svg.innerHTML).toBe('<path d="M4.5 10.5l3.7 3.7 7.3-7.9"></path>');
    expect(svg.getAttribute('aria-hidden')).toBe('true');
    expect(server.calls).toHaveLength(0);
  });

  it('that is not bundled is fetched by its name', async () => {
    files['/assets/icons/umbrella.svg'] = { body: '<svg xmlns="http://www.w3.org/2000/svg"><path d="M1 1h2"/></svg>' };
    const svg = draw('umbrella');
    await waitFor(() => expect(svg.innerHTML).toBe('<path d="M1 1h2"></path>'));
  });

  it('is fetched once for all its places', async () => {
    files['/assets/icons/twice.svg'] = { body: '<svg xmlns="http://www.w3.org/2000/svg"><path d="M1 1h2"/></svg>' };
    const [first, second] = [draw('twice'), draw('twice')];
    await waitFor(() => expect(first.innerHTML + second.innerHTML).toBe('<path d="M1 1h2"></path>'.repeat(2)));
    expect(server.calls).toHaveLength(1);
  });

  it.each([
    ['is missing', 'missing', undefined],
    ['is not an image', 'page', '<!DOCTYPE html><p>Log in</p>'],
    ['is broken', 'broken', '<svg xmlns="http://www.w3.org/2000/svg"><path d="M1 1'],
    ['contains nothing to draw', 'empty', '<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>'],
  ])('falls back to the plain circle if its file %s', async (_name, name, body) => {
    if (body !== undefined) files[`/assets/icons/${name}.svg`] = { body };
    const svg = draw(name);
    await waitFor(() => expect(svg.innerHTML).toBe(CIRCLE));
    expect(server.calls).toHaveLength(1);
  });

  it.each(['../secret', 'a/b', 'x.svg?y', 'A B', ''])('is not fetched for the name %j', async (name) => {
    const svg = draw(name);
    await waitFor(() => expect(svg.innerHTML).toBe(CIRCLE));
    expect(server.calls).toHaveLength(0);
  });

  it('drops everything that could load or run something', async () => {
    files['/assets/icons/bad.svg'] = {
      body: `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" onload="alert(1)">
        <script>alert(1)</script><style>*{}</style><image href="https://example.net/x.png"/>
        <a href="javascript:alert(1)"><path d="M0 0h1"/></a><foreignObject><p>x</p></foreignObject>
        <use xlink:href="#x"/><path id="x" style="fill:red" onclick="alert(1)" d="M2 2h3" fill="url(#x)" class="y"/>
        <g stroke="none"><circle cx="4" cy="5" r="1" fill="currentColor"/></g></svg>`,
    };
    const svg = draw('bad');
    await waitFor(() =>
      expect(svg.innerHTML).toBe(
        '<path d="M2 2h3"></path><g stroke="none"><circle cx="4" cy="5" r="1" fill="currentColor"></circle></g>',
      ),
    );
  });

  it('is part of the bundle if the contract names it', () => {
    const named = [...siteSecurityToggles, ...pages].map(({ icon }) => icon);
    expect(named.filter((icon) => !bundledIcons.has(icon))).toEqual([]);
  });
});
