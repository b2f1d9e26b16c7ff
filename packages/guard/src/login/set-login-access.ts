import { ADDRESS_CHARACTERS, LOGIN_ACCESS_MAX } from '@security-optimizer/contract/login-limits';
import { messages } from '@security-optimizer/contract/messages';
import { parseAddress } from '../lib/address.js';
import { AddressSet, parseRange } from '../lib/address-set.js';
import { ApiError } from '../lib/api-error.js';
import { type ChangeDeps, changeSettings } from '../settings/change-settings.js';
import type { SiteConfig } from '../site.js';
import type { Actor } from '../storage/settings-store.js';
import { english } from '../texts/language.js';

export interface LoginAccessChange {
  readonly site: SiteConfig;
  readonly actor: Actor;
  /** Rows of the dialog; empty ones are dropped. */
  readonly entries: readonly string[];
  /** The caller knows that the list shuts out the own address. */
  readonly confirm: boolean;
}

/**
 * Sets from where one may log in; an empty list lets everyone try.
 *
 * @returns the list as it is stored, and the text for the owner
 * @throws ApiError invalid_input with the positions of rows that can't be read, would_shut_you_out
 */
export async function setLoginAccess(
  deps: ChangeDeps,
  { site, actor, entries, confirm }: LoginAccessChange,
): Promise<{ readonly list: readonly string[]; readonly message: string }> {
  const list = readList(entries);
  if (!confirm && shutsOut(list, actor.address)) {
    throw new ApiError('would_shut_you_out', {
      message: english.translate(
        'Your own address {address} is not in this list, so it would shut you out. Nothing was saved.',
        { address: actor.address ?? '' },
      ),
    });
  }
  await changeSettings(deps, { site, actor }, () => ({ login_access: list }));
  const message =
    list.length === 0 ? 'Everyone may try to log in.' : 'Only visitors from the addresses in the list may log in.';
  return { list, message };
}

function readList(entries: readonly string[]): string[] {
  const fields: Record<string, string> = {};
  const list: string[] = [];
  for (const [index, entry] of entries.entries()) {
    const line = entry.trim();
    if (line === '') continue;
    // Spaces around a hyphen are the only ones inside a row that mean something to people.
    const row = line.replace(/\s*-\s*/, '-');
    if (!ADDRESS_CHARACTERS.test(row) || parseRange(row) === null) fields[index] = messages.invalidFormat;
    else if (!list.includes(row)) list.push(row);
  }
  if (Object.keys(fields).length > 0) throw new ApiError('invalid_input', { fields });
  if (list.length > LOGIN_ACCESS_MAX) {
    throw new ApiError('invalid_input', {
      fields: { entries: english.translate('Enter at most {number} addresses.', { number: LOGIN_ACCESS_MAX }) },
    });
  }
  return list;
}

function shutsOut(list: readonly string[], address: string | null): boolean {
  const caller = address === null ? null : parseAddress(address);
  return list.length > 0 && caller !== null && !AddressSet.from(list).has(caller);
}
