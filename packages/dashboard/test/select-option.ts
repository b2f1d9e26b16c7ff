import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';

/** Opens the list of a field and returns its options. */
export async function listOptions(field: HTMLElement): Promise<HTMLElement[]> {
  await userEvent.click(field);
  return within(screen.getByRole('listbox')).getAllByRole('option');
}

/** Chooses an option of a field with the pointer. */
export async function choose(field: HTMLElement, text: string): Promise<void> {
  const option = (await listOptions(field)).find(({ textContent }) => textContent === text);
  if (option === undefined) throw new Error(`There is no option "${text}".`);
  await userEvent.click(option);
}
