import type { CheckupFinding, RemovedFile } from '@security-optimizer/contract/post-hack/checkup';
import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  removedFile,
  sampleCheckup,
  sampleFinding,
  sampleResult,
  suspicious,
  unknownFiles,
} from '../../../test/fake-site/checkup.js';
import { ok, refused } from '../../../test/fake-site/server.js';
import { gate } from '../../../test/fake-site/site.js';
import {
  findButton,
  getTexts,
  openPostHack,
  type PostHackSite,
  startPostHackSite,
} from '../../../test/pages/post-hack-actions.js';

let site: PostHackSite;
beforeEach(async () => {
  site = await startPostHackSite();
});

const USER = 'New administrator: web-helper';
const SCRIPT = 'A script in uploads';
const SCRIPT_FILE = 'wp-content/uploads/2024/old/index.php';

/** Removes a finding from the checkup in guard, or the chosen ones of its files; `message` says what was left. */
function removeFromSite(message = ''): void {
  site.replies.set('/remove-finding', ({ body }) => {
    const { key, only } = JSON.parse(body) as { key: string; only?: number[] };
    const { latest, removed } = site.checkup;
    const findings = latest?.findings ?? [];
    const files = findings.find((finding) => finding.key === key)?.files ?? [];
    const gone = only === undefined ? files : files.filter((_, index) => only.includes(index));
    site.checkup = {
      ...site.checkup,
      latest: latest && { ...latest, findings: message === '' ? findings.filter((one) => one.key !== key) : findings },
      removed: [...gone.map((file) => removedFile(file)), ...removed],
    };
    return ok(site.checkup, message);
  });
}

function restoreOnSite(message = ''): void {
  site.replies.set('/restore-files', ({ body }) => {
    const { ids } = JSON.parse(body) as { ids: string[] };
    if (message === '') {
      site.checkup = { ...site.checkup, removed: site.checkup.removed.filter(({ id }) => !ids.includes(id)) };
    }
    return ok(site.checkup, message);
  });
}

async function openWith(findings: CheckupFinding[], removed: RemovedFile[] = []): Promise<void> {
  site.checkup = { ...suspicious({ findings }), removed };
  await openPostHack(site);
  await waitFor(() => expect(document.querySelector('.so-verdict')).not.toBeNull());
}

async function openDialog(finding: string): Promise<HTMLElement> {
  const button = await findButton(`Remove: ${finding}`);
  button.focus();
  await userEvent.keyboard('{Enter}');
  return screen.findByRole('alertdialog');
}

const confirm = (dialog: HTMLElement) => userEvent.click(within(dialog).getByRole('button', { name: 'Remove' }));
const hasClosed = () => waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull());
const samples = () => suspicious().latest?.findings ?? [];
const toast = (text: string) => waitFor(() => expect(getTexts('.so-toast').join()).toContain(text));

describe('the administrator of a finding', () => {
  it('is removed after a confirmation that says what happens, and the focus goes on', async () => {
    await openWith(samples());
    removeFromSite();
    const dialog = await openDialog(USER);
    expect(within(dialog).getByRole('heading').textContent).toBe('Remove this administrator');
    expect(dialog.querySelector('.so-dialog__body p')?.textContent).toBe(USER);
    expect(dialog.textContent).toContain('its posts and pages go to you');
    expect(dialog.textContent).toContain('This can’t be undone.');
    expect(dialog.textContent).toContain('Removing also ends 1 open session');
    expect(within(dialog).getByRole('link', { name: 'Open the user' }).getAttribute('href')).toBe(
      'http://example.com/wp-admin/user-edit.php?user_id=7',
    );
    await waitFor(() => expect(document.activeElement).toBe(within(dialog).getByRole('button', { name: 'Cancel' })));
    await confirm(dialog);
    await hasClosed();
    expect(site.sent('/remove-finding')).toEqual([{ key: 'administrator:7:web-helper' }]);
    expect(await screen.findByText('1 thing needs a look')).toBeDefined();
    await toast(`Removed${USER}`);
    expect(screen.queryByRole('button', { name: 'Undo' })).toBeNull();
    const next = await findButton(`Keep: ${SCRIPT}`);
    await waitFor(() => expect(document.activeElement).toBe(next));
  });

  it('stays if the owner cancels, and the focus returns', async () => {
    await openWith(samples());
    await openDialog(USER);
    await userEvent.keyboard('{Escape}');
    await hasClosed();
    expect(site.sent('/remove-finding')).toEqual([]);
    const button = await findButton(`Remove: ${USER}`);
    await waitFor(() => expect(document.activeElement).toBe(button));
  });

  it('has no link that would run code', async () => {
    await openWith(samples().map((finding) => ({ ...finding, link: 'javascript:window.broken=1' })));
    const dialog = await openDialog(USER);
    expect(within(dialog).queryByRole('link')).toBeNull();
    expect(dialog.textContent).not.toContain('change only the role');
  });

  it('stays in the dialog with the reason if it could not be removed, and can be tried again', async () => {
    await openWith(samples());
    site.replies.set('/remove-finding', () => refused(409, 'last_administrator', 'You are the only other one.'));
    const dialog = await openDialog(USER);
    await confirm(dialog);
    const alert = await within(dialog).findByRole('alert');
    expect(alert.textContent).toBe('We couldn’t remove this. You are the only other one.');
    removeFromSite();
    await confirm(dialog);
    await hasClosed();
    expect(site.sent('/remove-finding')).toHaveLength(2);
  });

  it('is looked up again if the outcome is unknown', async () => {
    await openWith(samples());
    site.replies.set('/remove-finding', () => {
      site.checkup = suspicious({ findings: samples().slice(1) });
      return null;
    });
    const dialog = await openDialog(USER);
    await confirm(dialog);
    expect(await screen.findByText('1 thing needs a look')).toBeDefined();
    expect(within(dialog).getByRole('alert')).toBeDefined();
  });
});

describe('the files of a finding', () => {
  it('are named, and the dialog can’t be closed while they are removed', async () => {
    await openWith(samples());
    const held = gate();
    removeFromSite();
    const reply = site.replies.get('/remove-finding');
    site.replies.set('/remove-finding', async (call) => {
      await held.opened;
      return reply?.(call) ?? null;
    });
    const dialog = await openDialog(SCRIPT);
    expect(within(dialog).getByRole('heading').textContent).toBe('Remove this file');
    expect(dialog.querySelector('bdi.so-mono')?.textContent).toBe(SCRIPT_FILE);
    expect(dialog.querySelector('bdi.so-mono')?.getAttribute('dir')).toBe('ltr');
    expect(dialog.textContent).toContain('A copy is kept for 30 days, so that you can restore it.');
    expect(within(dialog).queryByRole('checkbox')).toBeNull();
    expect(dialog.textContent).not.toContain('on purpose');
    await confirm(dialog);
    expect(await within(dialog).findByRole('button', { name: 'Removing…' })).toBeDefined();
    await userEvent.keyboard('{Escape}');
    expect(screen.getByRole('alertdialog')).toBe(dialog);
    held.open();
    await hasClosed();
    expect(site.sent('/remove-finding')).toEqual([{ key: 'script:abc' }]);
  });

  it('are restored by Undo, but not the files that were removed before', async () => {
    await openWith(samples(), [removedFile('old.php')]);
    removeFromSite();
    restoreOnSite();
    await confirm(await openDialog(SCRIPT));
    await toast(SCRIPT_FILE);
    expect(await screen.findByText('2 removed files are kept')).toBeDefined();
    await userEvent.click(await findButton('Undo'));
    await screen.findByText('1 removed file is kept');
    expect(site.sent('/restore-files')).toEqual([{ ids: [`copy-of-${SCRIPT_FILE}`] }]);
  });

  it('can be chosen, at least one of them', async () => {
    await openWith([unknownFiles]);
    removeFromSite();
    restoreOnSite();
    const dialog = await openDialog(unknownFiles.title);
    expect(within(dialog).getByRole('heading').textContent).toBe('Remove files');
    expect(dialog.textContent).toContain('on purpose stops working');
    const boxes = within(dialog).getAllByRole<HTMLInputElement>('checkbox');
    const [all, ...files] = boxes;
    expect(boxes.map(({ checked }) => checked)).toEqual([true, true, true, true]);
    expect(dialog.textContent).toContain('3 of 3 selected');
    await userEvent.click(all as HTMLElement);
    expect(within(dialog).getByRole('alert').textContent).toBe('Choose at least one file.');
    expect(within(dialog).getByRole('button', { name: 'Remove' })).toHaveProperty('disabled', true);
    await userEvent.click(files[2] as HTMLElement);
    await userEvent.click(files[0] as HTMLElement);
    expect(dialog.textContent).toContain('2 of 3 selected');
    expect(within(dialog).queryByRole('alert')).toBeNull();
    await confirm(dialog);
    await hasClosed();
    expect(site.sent('/remove-finding')).toEqual([{ key: 'unknown:1', only: [0, 2] }]);
    await userEvent.click(await findButton('Undo'));
    await waitFor(() =>
      expect(site.sent('/restore-files')).toEqual([
        { ids: ['copy-of-wp-includes/a.php', 'copy-of-wp-includes/c.php'] },
      ]),
    );
  });

  it('are sent without a choice if all of them are chosen again', async () => {
    await openWith([unknownFiles]);
    removeFromSite();
    const dialog = await openDialog(unknownFiles.title);
    const [first] = within(dialog).getAllByRole('checkbox', { name: 'wp-includes/a.php' });
    await userEvent.click(first as HTMLElement);
    await userEvent.click(first as HTMLElement);
    await confirm(dialog);
    await hasClosed();
    expect(site.sent('/remove-finding')).toEqual([{ key: 'unknown:1' }]);
  });

  it('that were left are named in a warning, and the others can be restored', async () => {
    await openWith([unknownFiles]);
    const message = 'wp-includes/b.php has changed since the checkup, so it was not removed.';
    removeFromSite(message);
    restoreOnSite();
    await confirm(await openDialog(unknownFiles.title));
    await toast(message);
    expect(document.querySelector('.so-toast--success')).toBeNull();
    expect(getTexts('.so-toast').join()).not.toContain('Removed');
    await hasClosed();
    const button = await findButton(`Remove: ${unknownFiles.title}`);
    await waitFor(() => expect(document.activeElement).toBe(button));
    await userEvent.click(await findButton('Undo'));
    await waitFor(() => expect(site.sent('/restore-files')).toHaveLength(1));
  });

  it('with markup in their names are shown as text', async () => {
    const hostile = '<a href="http://example.org">x</a>.php';
    await openWith([sampleFinding({ remove: 'files', files: [hostile] })]);
    removeFromSite();
    const dialog = await openDialog(sampleFinding().title);
    expect(within(dialog).getByText(hostile)).toBeDefined();
    await confirm(dialog);
    await toast(hostile);
    expect(document.querySelector('.so-toast a')).toBeNull();
  });
});

describe('removed files', () => {
  it('are listed with the end of their copies, without a finding too', async () => {
    site.checkup = sampleCheckup({ removed: [removedFile(SCRIPT_FILE)] });
    await openPostHack(site);
    const summary = await screen.findByText('1 removed file is kept');
    const item = summary.closest('details')?.querySelector('li');
    expect(item?.querySelector('bdi.so-mono')?.textContent).toBe(SCRIPT_FILE);
    expect(item?.textContent).toMatch(
      /Removed by owner, (21 Nov|Today), 12:05\. The copy is deleted on 21 December\.Restore$/,
    );
    expect(summary.closest('details')?.open).toBe(false);
  });

  it('are restored one by one', async () => {
    await openWith([], [removedFile('a.php'), removedFile('b.php')]);
    restoreOnSite();
    await userEvent.click(await findButton('Restore: a.php'));
    await screen.findByText('1 removed file is kept');
    expect(site.sent('/restore-files')).toEqual([{ ids: ['copy-of-a.php'] }]);
    const next = await findButton('Restore: b.php');
    await waitFor(() => expect(document.activeElement).toBe(next));
    await userEvent.click(next);
    await waitFor(() => expect(document.querySelector('.so-removed')).toBeNull());
    await waitFor(() => expect(document.activeElement?.textContent).toBe('Try again'));
  });

  it('stay with the reason if another file has taken their place', async () => {
    await openWith([], [removedFile('a.php')]);
    restoreOnSite('a.php exists again, so its copy was not restored.');
    await userEvent.click(await findButton('Restore: a.php'));
    await toast('a.php exists again, so its copy was not restored.');
    expect(document.querySelector('.so-toast--success')).toBeNull();
    expect(screen.getByText('1 removed file is kept')).toBeDefined();
  });

  it('stay if they could not be restored', async () => {
    await openWith([], [removedFile('a.php')]);
    site.replies.set('/restore-files', () => refused(503, 'wordpress_down', 'WordPress does not answer.'));
    await userEvent.click(await findButton('Restore: a.php'));
    await toast('WordPress does not answer.');
    expect(screen.getByText('1 removed file is kept')).toBeDefined();
  });

  it('stay listed during a checkup, and can’t be restored then', async () => {
    site.checkup = {
      ...sampleCheckup({ latest: sampleResult({ findings: [unknownFiles] }), removed: [removedFile('a.php')] }),
      running: { done: 1, total: 4 },
    };
    await openPostHack(site);
    expect(await findButton('Restore: a.php')).toHaveProperty('disabled', true);
    expect(await findButton(`Remove: ${unknownFiles.title}`)).toHaveProperty('disabled', true);
  });
});
