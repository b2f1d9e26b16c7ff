import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { siteSecurityToggles } from '@security-optimizer/contract/settings/protections';
import { expect, it } from 'vitest';
import { clickSwitch } from '../../browser/pages.js';
import { sendRequest } from '../../http/request.js';
import { listSpellings, toSpelledRequest } from '../../http/spellings.js';
import type { Stack } from '../../stacks/stack.js';
import { runInWordPress } from '../../stacks/wordpress.js';
import { expectRefused, toggleSuite } from './helpers.js';

const SIGN = /Semantic Personal Publishing/;
const getReadme = (stack: Stack) => join(stack.wordpressDir, 'readme.html');
const text = '<h1>Semantic Personal Publishing Platform</h1>\n';
const NOT_DELETED =
  'Saved, but the file could not be deleted because WordPress may not write there. Requests for it are refused.';
const toggle = siteSecurityToggles.find(({ field }) => field === 'delete_readme');

toggleSuite({
  field: 'delete_readme',
  prepare: async (stack) => writeFileSync(getReadme(stack), text),
  // The file stays deleted; without it WordPress has no page at this path.
  probes: () => [{ target: '/' }, { target: '/license.txt' }],
  whileEnabled({ stack, page }) {
    const host = new URL(stack.url).host;

    it('has deleted the file', () => {
      expect(existsSync(getReadme(stack))).toBe(false);
    });

    it('makes guard refuse the file as soon as it is back', async () => {
      writeFileSync(getReadme(stack), text);
      expectRefused(await sendRequest(stack, { target: '/readme.html' }), SIGN);
    });

    it.each(listSpellings('/readme.html'))('refuses the file spelled with $how: $target', async (spelling) => {
      writeFileSync(getReadme(stack), text);
      expectRefused(await sendRequest(stack, toSpelledRequest(spelling, host)), SIGN);
    });

    it.each([
      ['an update of WordPress', "do_action( '_core_updated_successfully', $GLOBALS['wp_version'] );"],
      [
        'the upgrader',
        "do_action( 'upgrader_process_complete', null, array( 'type' => 'core', 'action' => 'update' ) );",
      ],
      ['the daily check', "do_action( 'security_optimizer_delete_readme' );"],
    ])('deletes the file again after %s', async (_name, code) => {
      writeFileSync(getReadme(stack), text);
      await runInWordPress(stack, code);
      expect(existsSync(getReadme(stack))).toBe(false);
    });

    it('schedules a daily check', async () => {
      expect(await runInWordPress(stack, "echo wp_get_schedule( 'security_optimizer_delete_readme' );")).toBe('daily');
    });

    it('reports when the file cannot be deleted, and still refuses it', async () => {
      if (toggle === undefined) throw new Error('The toggle is gone.');
      await clickSwitch(page(), toggle, 'off', toggle.messages.off);
      // A folder of that name: PHP can't delete it, as with a file in a read-only folder.
      rmSync(getReadme(stack), { force: true });
      mkdirSync(getReadme(stack));
      writeFileSync(join(getReadme(stack), 'index.html'), text);
      try {
        await clickSwitch(page(), toggle, 'on', NOT_DELETED);
        expectRefused(await sendRequest(stack, { target: '/readme.html' }), SIGN);
        expectRefused(await sendRequest(stack, { target: '/readme.html/' }), SIGN);
      } finally {
        rmSync(getReadme(stack), { recursive: true });
      }
    });
  },
});
