import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { securityOptimizer } from '../../stacks/guard-process.js';
import { type Layout, type OddSite, startOddInstall } from '../../stacks/odd-install.js';
import { logInToSite, openPage, visit } from './odd-site.js';

const LAYOUTS: readonly (readonly [string, Layout])[] = [
  ['as WordPress-Skeleton lays it out', { home: '', core: 'wp', content: 'content', unusedContent: true }],
  [
    'as Bedrock with the full core lays it out, in releases',
    { home: '', core: 'web/wp', content: 'web/app', unusedContent: true, releases: true },
  ],
];

const canRun = inject('stacks').some((stack) => stack.kind === 'embedded' && !('problem' in stack));

describe.skipIf(!canRun).each(LAYOUTS)('WordPress %s', (_name, layout) => {
  let dir: string;
  let site: OddSite;
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'so-odd-'));
    site = await startOddInstall(dir, layout);
  });
  afterAll(async () => {
    await site?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const muPlugins = () => join(dir, 'root', layout.content as string, 'mu-plugins');
  const unused = () => join(site.wordpressDir, 'wp-content', 'mu-plugins');
  const config = () => readFileSync(join(site.guardDir, 'guard.json'), 'utf8');
  const attach = (...more: string[]) =>
    securityOptimizer('attach', '--wordpress', site.wordpressDir, '--data-dir', site.guardDir, ...more);
  const problems = async () =>
    JSON.parse((await securityOptimizer('status', '--data-dir', site.guardDir, '--json')).stdout).problems;

  it('has the connector in the folder that WordPress itself reports, without configuration', async () => {
    expect(readdirSync(muPlugins())).toContain('security-optimizer.php');
    expect(existsSync(unused())).toBe(false);
    expect(JSON.parse(config()).sites).toMatchObject([{ muPluginsDir: muPlugins() }]);
    expect(await problems()).toEqual([]);
    const page = await openPage(site, await logInToSite(site), 'site-security');
    expect(page.answer.status).toBe(200);
  });

  it('refuses requests that bypass guard', async () => {
    const direct = await visit({ ...site, port: site.upstreamPort }, { target: '/' });
    expect(direct.status).toBe(403);
  });

  it('is updated in place, and the response of WordPress shows that it runs the new version', async () => {
    const output = await attach();
    expect(output).toMatchObject({ code: 0, stderr: '' });
    expect(output.stdout).not.toContain('not verified');
    expect(await securityOptimizer('attach', '--all', '--data-dir', site.guardDir)).toMatchObject({ code: 0 });
  });

  it('refuses the unused folder, names both folders, and changes nothing', async () => {
    const before = config();
    const refused = await attach('--mu-plugins', unused());
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(
      /loads its must-use plugins from .*\/(?:content|app)\/mu-plugins, and not from .*\/wp\/wp-content\/mu-plugins\./,
    );
    expect(refused.stderr).toContain('--mu-plugins');
    expect(existsSync(unused())).toBe(false);
    expect(config()).toBe(before);
    expect(await problems()).toEqual([]);
  });
});
