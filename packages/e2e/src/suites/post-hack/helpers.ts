import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Job, JobItem, JobKind } from '@security-optimizer/contract/post-hack/endpoints';
import { expect } from 'vitest';
import type { RawResponse } from '../../http/raw.js';
import { form, sendRequest } from '../../http/request.js';
import { type ApiResponse, authorised, callApi, type Session } from '../../http/session.js';
import type { Stack } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { runInWordPress, usersByRole } from '../../stacks/wordpress.js';

const API = '/wp-json/security-optimizer/v1';

/** Calls one of the page's actions. */
export function callAction(stack: Stack, session: Session, suffix: string, body: object = {}): Promise<ApiResponse> {
  return callApi(stack, { path: `${API}${suffix}`, body: JSON.stringify(body), headers: authorised(session) });
}

/** The latest job of a kind, or null. */
export async function latestJob(stack: Stack, session: Session, kind: JobKind): Promise<Job | null> {
  const { body } = await callAction(stack, session, '/post-hack-jobs');
  if (body.status !== 200) throw new Error(`Jobs can't be read: ${JSON.stringify(body)}`);
  return (body.data as { jobs: Job[] }).jobs.find((job) => job.kind === kind) ?? null;
}

/** Waits until the latest job of a kind has ended. @returns the job */
export function endedJob(stack: Stack, session: Session, kind: JobKind): Promise<Job> {
  const listJobs = async () => {
    const job = await latestJob(stack, session, kind);
    return job !== null && job.state !== 'running' ? job : null;
  };
  return until(`the job ${kind} has ended`, listJobs, 60);
}

/** Expects a reinstalled plugin, and shows the job's messages otherwise. @returns the plugin's item */
export function expectReinstalled({ state, error, summary, items }: Job, plugin: string): JobItem {
  const item = items.find(({ id }) => id === plugin);
  expect([state, item?.state], JSON.stringify({ error, summary, item })).toEqual(['done', 'done']);
  return item as JobItem;
}

/** Restores all earlier passwords, as if there had been no reset. */
export async function restorePasswords(stack: Stack): Promise<void> {
  const logins = [stack.user, ...Object.values(usersByRole)].map((login) => `'${login}'`).join(', ');
  await runInWordPress(
    stack,
    `delete_metadata( 'user', 0, 'security_optimizer_old_password', '', true );
    delete_site_option( 'security_optimizer_reset_at' );
    foreach ( array( ${logins} ) as $login ) {
      wp_set_password( '${stack.password}', get_user_by( 'login', $login )->ID );
    }`,
  );
}

/** Follows a link to choose a new password and types one. @param target path and query of the link */
export async function choosePassword(stack: Stack, target: string, password: string): Promise<RawResponse> {
  const first = await sendRequest(stack, { target });
  const cookie = /^set-cookie: (wp-resetpass-[^=]+=[^;]+)/im.exec(first.head)?.[1] ?? '';
  const page = await sendRequest(stack, { target: '/wp-login.php?action=rp', headers: { cookie } });
  const key = /name="rp_key" value="([^"]*)"/.exec(page.body)?.[1] ?? '';
  const fields = new URLSearchParams({ pass1: password, pass2: password, rp_key: key, 'wp-submit': 'Save Password' });
  return sendRequest(stack, form('/wp-login.php?action=resetpass', fields.toString(), { cookie }));
}

/** Writes to the plugin folder of a stack, as with access to the disk. */
export function pluginsOnDisk(stack: Stack) {
  const folder = join(stack.wordpressDir, 'wp-content/plugins');
  const path = (name: string) => join(folder, name);
  return {
    path,
    put(plugin: string, files: Readonly<Record<string, string>>): void {
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(path(`${plugin}/${name}`)), { recursive: true });
        writeFileSync(path(`${plugin}/${name}`), text);
      }
    },
    remove(...plugins: string[]): void {
      for (const plugin of plugins) rmSync(path(plugin), { recursive: true, force: true });
    },
    /** On the production stack, PHP and the tests run as different users. */
    changeOwner: () => giveToWordPress(stack, folder),
  };
}

/** Makes WordPress's user the owner of a file or folder that the test has created. */
export function giveToWordPress(stack: Stack, path: string): void {
  const { uid, gid } = statSync(join(stack.wordpressDir, 'wp-content'));
  execFileSync('chown', ['-hR', `${uid}:${gid}`, path]);
}

/** The header of a plugin's main file. */
export const pluginHeader = (name: string, version: string) =>
  `<?php\n/*\nPlugin Name: ${name}\nVersion: ${version}\nAuthor: Example\n*/\n`;
