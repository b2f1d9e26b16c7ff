import { describe, expect, it } from 'vitest';
import type { SiteConfig } from '../site.js';
import { examineSites } from './examine-sites.js';
import { SHORT_TIMEOUT_MS } from './patience.js';
import type { ExaminedSite } from './status-site.js';

const [ONE, OTHER] = ['http://127.0.0.1:8080', 'http://127.0.0.1:8081'];

const sites = (count: number, upstream: string): readonly SiteConfig[] =>
  Array.from({ length: count }, (_, at) => ({ id: `${new URL(upstream).port}-${at}`, upstream }) as SiteConfig);

/** Examines sites with a clock that only hanging sites move. */
async function examine(
  all: readonly SiteConfig[],
  hangs: (site: SiteConfig, asked: number) => boolean,
  answers = true,
) {
  const asked: SiteConfig[] = [];
  let clock = 0;
  const found = await examineSites(
    all,
    () => clock,
    async (site, timeoutMs) => {
      if (timeoutMs === null) return toFound(site, 'not asked');
      asked.push(site);
      if (!hangs(site, asked.length)) return toFound(site, answers ? 'ok' : 'unknown');
      clock += timeoutMs;
      return toFound(site, 'unknown');
    },
  );
  return { asked, found: found.map(({ site }) => [site.id, site.connector as string]), clock };
}

const toFound = ({ id }: SiteConfig, connector: string) =>
  ({ site: { id, connector }, problems: [], warnings: [] }) as unknown as ExaminedSite;

const toIds = (all: readonly SiteConfig[]) => all.map(({ id }) => id);

describe('the sites that status asks', () => {
  it('are all of them, in their order, where they answer', async () => {
    const all = [...sites(300, ONE), ...sites(3, OTHER)];
    const { asked, found } = await examine(all, () => false);
    expect(found).toEqual(all.map(({ id }) => [id, 'ok']));
    expect(asked).toHaveLength(303);
  });

  it('are few of 5,000 at a web server that hangs for each, and all of another web server', async () => {
    const all = [...sites(5000, ONE), ...sites(300, OTHER)];
    const { asked, found } = await examine(all, ({ upstream }) => upstream === ONE);
    const hanging = asked.filter(({ upstream }) => upstream === ONE);
    // The first 128, those under way meanwhile, and one in 64 of the others.
    expect(hanging.length).toBeGreaterThanOrEqual(128);
    expect(hanging.length).toBeLessThan(128 + 32 + 5000 / 64 + 1);
    expect(asked.filter(({ upstream }) => upstream === OTHER)).toHaveLength(300);
    expect(found.map(([id]) => id)).toEqual(toIds(all));
    expect(found.filter(([, connector]) => connector === 'not asked')).toHaveLength(5000 - hanging.length);
  });

  it('are all of them where a web server recovers meanwhile', async () => {
    const all = sites(1000, ONE);
    const { asked, found } = await examine(all, (_, count) => count <= 130);
    expect(new Set(toIds(asked))).toEqual(new Set(toIds(all)));
    expect(found.filter(([, connector]) => connector === 'ok')).toHaveLength(1000 - 130);
    expect(found.map(([id]) => id)).toEqual(toIds(all));
  });

  it('are all of them where the web server refuses each at once', async () => {
    const { asked, clock } = await examine(sites(1000, ONE), () => false, false);
    expect(asked).toHaveLength(1000);
    expect(clock).toBeLessThan(SHORT_TIMEOUT_MS);
  });
});
