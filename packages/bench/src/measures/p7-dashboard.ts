import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { attach } from '@security-optimizer/guard/testing';
import { findFreePort } from '@security-optimizer/sandbox/lib/ports';
import { dashboardPages, startOwner } from '../dashboard/owner.js';
import { alternate } from '../load/alternate.js';
import { median } from '../load/statistics.js';
import type { Bench, Measure } from '../measure.js';
import { type Line, line } from '../report/report.js';
import { serve } from '../rivals/guard.js';
import { SITE_HOST, wordpress } from '../rivals/wordpress.js';

const KILOBYTE = 1000;

/** Size of the dashboard's JavaScript, and when its pages can be used on a slow machine. */
export const dashboard: Measure = {
  id: 'p7',
  title: 'dashboard',
  async run(bench) {
    const site = await wordpress(bench);
    const dataDir = join(bench.dir, 'guard-dashboard');
    const { wordpressDir, upstream, user, password } = site.stack;
    const listen = { host: '127.0.0.1', port: await findFreePort() };
    await attach({ wordpressDir, upstream, listen, dataDir, requireGuard: 'force' });
    const guard = await serve(bench, dataDir);
    const owner = await startOwner(bench, { guardUrl: guard.url, host: SITE_HOST, user, password });
    const lines = [...(await sizes(wordpressDir)), ...(await times(bench, owner))];
    await owner.stop();
    await guard.stop();
    return lines;
  },
};

/** Sizes of the installed files, counted like the build's check of its budget. */
async function sizes(wordpressDir: string): Promise<Line[]> {
  const assets = join(wordpressDir, 'wp-content/mu-plugins/security-optimizer/assets');
  const files = JSON.parse(await readFile(join(assets, 'entrypoints.json'), 'utf8')) as {
    loader: string;
    modern: string;
    legacy: string;
    pages: Record<string, string[]>;
  };
  const size = async (name: string) => gzipSync(await readFile(join(assets, name))).length / KILOBYTE;
  const sum = async (names: readonly string[]) =>
    (await Promise.all(names.map(size))).reduce((all, one) => all + one, 0);
  const pages = await Promise.all(Object.values(files.pages).map((own) => sum([files.loader, files.modern, ...own])));
  const all = (await readdir(assets)).filter((name) => name.endsWith('.js') && name !== files.legacy);
  return [
    { what: 'JavaScript of the largest page, gzip', value: Math.max(...pages), limit: 125 },
    { what: 'JavaScript of all pages and dialogs, gzip', value: await sum(all), limit: 175 },
  ].map(({ what, value, limit }) =>
    line({ measure: 'p7', what, value, unit: 'KB', bar: { of: 'value', is: 'at most', limit } }),
  );
}

async function times(bench: Bench, owner: Awaited<ReturnType<typeof startOwner>>): Promise<Line[]> {
  const turns = Object.fromEntries(dashboardPages.map((page) => [page.slug, () => owner.open(page)]));
  const opened: Readonly<Record<string, number[]>> = await alternate(
    { ...turns, tools: () => owner.openPlain() },
    {
      rounds: bench.rounds,
      seconds: 0,
      onRound: (name, round) => bench.log(`p7, round ${round} of ${bench.rounds}: ${name}`),
    },
  );
  const plain = median(opened.tools as number[]);
  return dashboardPages.map(({ slug, name }) => {
    const value = median(opened[slug] as number[]) / 1000;
    return line({
      measure: 'p7',
      what: `${name} answers its first click, CPU slowed 4 times`,
      value,
      unit: 's',
      rival: { name: 'Tools of WordPress, loaded', value: plain / 1000, ratio: value / (plain / 1000) },
      bar: { of: 'value', is: 'at most', limit: 1.5 },
    });
  });
}
