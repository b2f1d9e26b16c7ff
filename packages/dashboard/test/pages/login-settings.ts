import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { FakeSite } from '../fake-site/site.js';
import { openPage } from './open-page.js';

/** Opens the page Login Security, and one of its dialogs by the name of the row. */
export async function openDialog(
  site: FakeSite,
  row: string,
  config: Record<string, unknown> = {},
): Promise<HTMLElement> {
  await openPage(site, config, 'LOGIN_SETTINGS');
  await userEvent.click(await screen.findByRole('button', { name: `Configure: ${row}` }));
  return screen.findByRole('dialog');
}

/** Error messages at the fields, from top to bottom. */
export function errorsIn(dialog: HTMLElement): string[] {
  return Array.from(dialog.querySelectorAll('.so-error'), (message) => message.textContent ?? '');
}

/** Fields that are marked as invalid, from top to bottom. */
export function wrongFields(dialog: HTMLElement): HTMLElement[] {
  return Array.from(dialog.querySelectorAll<HTMLElement>('[aria-invalid="true"]'));
}
