import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RegisteredRow } from '@security-optimizer/contract/activity/schemas';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sendRequest } from '../../http/request.js';
import { authorised, callApi, logIn, type Session } from '../../http/session.js';
import { until } from '../../stacks/until.js';
import { runInWordPress, usersByRole } from '../../stacks/wordpress.js';
import { ownerSuite } from '../login-owner/helpers.js';

const API = '/wp-json/security-optimizer/v1';
/** The typed text, and the shown text if it differs. */
const TITLES: readonly (readonly [typed: string, shown?: string])[] = [
  ['Tea & cake'],
  ['1 < 2 > 0'],
  ['<b>Bold</b> <script>document.title="ran"</script><img src=x onerror=document.title="ran">'],
  // Decoded once, as in WordPress's own list.
  ['&amp;lt; and &copy; and &#8230;', '&lt; and © and …'],
  ['O\'Neil "said" \\ so\\n'],
  ['😀 👩‍👩‍👧 Ünï — 世界'],
  ['שלום עולם'],
  ['evil\u202egpj.exe\u200b', 'evil\\u202egpj.exe\\u200b'],
  ['=cmd|calc'],
  ['{object} $& %s {before}'],
  ['monday'],
];
/** A user who may not write HTML: WordPress stores their text with entities. */
const BY_AUTHOR: typeof TITLES = [
  ['Tea & cake, twice'],
  ['I <3 tea'],
  ['O\'Neil "wrote" \\ this'],
  ['AT&amp;T', 'AT&T'],
];
const SITE_TITLE = 'Shop & <Son> "since" \\ 1 < 2 &lt;';
/** WordPress itself stores `&lt;` and `<` of a site title alike. */
const SITE_TITLE_TYPED = SITE_TITLE.replace('&lt;', '&amp;lt;');
const CATEGORY = 'Cups & "Pots" <3 \\ 😀';
const PLUGIN = 'A & B <i>c</i> "q" \\ 😀';

ownerSuite('text that a user has typed', (owner) => {
  const { stack } = owner;
  const folder = join(stack.wordpressDir, 'wp-content/plugins/typed-text');
  let session: Session;
  let titleBefore = '';
  const made: string[] = [];

  /** A call of WordPress's REST API, in ASCII. */
  const write = async (who: Session, path: string, body: object) => {
    const json = JSON.stringify(body).replace(/[\u0080-\uffff]/g, (sign) => {
      return `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
    });
    const response = await callApi(stack, { path: `/wp-json/wp/v2${path}`, body: json, headers: authorised(who) });
    if (response.http > 201) throw new Error(`${path} can't be written: ${JSON.stringify(response.body)}`);
    return response.body as unknown as { id: number };
  };
  /** Responses are read as bytes, one character each. */
  const utf8 = (bytes: string) => Buffer.from(bytes, 'latin1').toString('utf8');
  const rows = async (): Promise<RegisteredRow[]> => {
    const found: RegisteredRow[] = [];
    for (let page = 1; page <= 2; page++) {
      const { body } = await callApi(stack, {
        path: `${API}/activity-registered`,
        body: JSON.stringify({ page }),
        headers: authorised(session),
      });
      found.push(...(JSON.parse(utf8(JSON.stringify(body.data))) as { entries: RegisteredRow[] }).entries);
    }
    return found;
  };
  const shown = [...TITLES, ...BY_AUTHOR].map(([typed, as = typed]) => as);
  const sentences = [
    ...shown.map((title) => `Published post “${title}”`),
    `Created category “${CATEGORY}”`,
    `Activated plugin “${PLUGIN}”`,
  ];

  beforeAll(async () => {
    session = await logIn(stack);
    const author = await logIn(stack, usersByRole.author);
    titleBefore = await runInWordPress(stack, "echo get_option( 'blogname' );");
    for (const [who, titles] of [
      [session, TITLES],
      [author, BY_AUTHOR],
    ] as const) {
      for (const [title] of titles) {
        made.push(`wp_delete_post( ${(await write(who, '/posts', { title, status: 'publish' })).id}, true );`);
      }
    }
    const { id } = await write(session, '/categories', { name: CATEGORY });
    made.push(`wp_delete_term( ${id}, 'category' );`);
    mkdirSync(folder);
    writeFileSync(join(folder, 'typed-text.php'), `<?php\n/*\nPlugin Name: ${PLUGIN}\nVersion: 1.0\n*/\n`);
    await write(session, '/plugins/typed-text/typed-text', { status: 'active' });
    made.push("deactivate_plugins( 'typed-text/typed-text.php' );");
    await write(session, '/settings', { title: SITE_TITLE_TYPED });
    await until('the log tells of the last one', async () =>
      (await rows()).some(({ words }) => words.kind === 'option.changed' && words.after === SITE_TITLE),
    );
  });
  afterAll(async () => {
    await runInWordPress(
      stack,
      `require_once ABSPATH . 'wp-admin/includes/plugin.php'; ${made.join(' ')} update_option( 'blogname', html_entity_decode( '${titleBefore}', ENT_QUOTES ) );`,
    );
    rmSync(folder, { recursive: true, force: true });
  });

  it('is unchanged in the response and its message', async () => {
    const all = await rows();
    const activities = all.map(({ activity }) => activity);
    for (const sentence of sentences) expect(activities).toContain(sentence);
    const objects = all.map(({ words }) => words.object);
    for (const title of [...shown, CATEGORY, PLUGIN]) expect(objects).toContain(title);
    expect(activities.find((text) => text.includes('“Site Title”'))).toContain(` to ${SITE_TITLE}`);
  });

  it('is unchanged in the list and in the details, and none of it is executed', async () => {
    const { page } = owner;
    await page.goto(`${stack.url}/wp-admin/admin.php?page=activity-log#registered`);
    const table = page.getByRole('table', { name: 'Registered Users Activity' });
    await table.locator('tbody tr').first().waitFor();
    const read = () => table.locator('tbody tr').allInnerTexts();
    // Direction marks surround right-to-left names.
    const plain = (text: string) => text.replace(/[\u2066-\u2069]/g, '').replace(/\s+/g, ' ');
    const text = plain((await read()).join('\n'));
    for (const sentence of sentences) expect(text).toContain(plain(sentence));
    await table.getByText('Published post “<b>Bold</b>').click();
    await page.getByRole('dialog').waitFor();
    expect(plain(await page.getByRole('dialog').innerText())).toContain(plain(shown[2] as string));
    await page.keyboard.press('Escape');
    expect(await page.title()).not.toBe('ran');
  });

  it('is the same as in WordPress’s own list of posts', async () => {
    const { page } = owner;
    await page.goto(`${stack.url}/wp-admin/edit.php?orderby=ID&order=desc`);
    const titles = await page.locator('#the-list .row-title').allInnerTexts();
    // WordPress replaces quotation marks, and removes invisible characters.
    const comparable = [shown[0], shown[1], shown[3], shown[5], shown[6], ...['Tea & cake, twice', 'I <3 tea', 'AT&T']];
    for (const title of comparable) expect(titles.map((one) => one.trim())).toContain(title);
  });

  it('is unchanged in the exports; CSV has an apostrophe before formulas only', async () => {
    const fetchExport = async (format: 'csv' | 'json') => {
      const target = `${API}/activity-export?list=registered&format=${format}`;
      const { status, body } = await sendRequest(stack, { target, headers: authorised(session) });
      expect(status).toBe(200);
      return utf8(body);
    };
    const entries = JSON.parse(await fetchExport('json')) as {
      object: string;
      activity: string;
      after: string | null;
    }[];
    for (const sentence of sentences) expect(entries.map(({ activity }) => activity)).toContain(sentence);
    for (const title of [...shown, CATEGORY, PLUGIN]) expect(entries.map(({ object }) => object)).toContain(title);
    expect(entries.map(({ after }) => after)).toContain(SITE_TITLE);
    const csv = await fetchExport('csv');
    for (const title of [...shown, CATEGORY, PLUGIN, SITE_TITLE]) {
      expect(csv).toContain(`"${title.startsWith('=') ? "'" : ''}${title.replaceAll('"', '""')}"`);
    }
  });
});
