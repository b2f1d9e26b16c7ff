import { LOGIN_ACCESS_MAX } from '@security-optimizer/contract/login/limits';
import type { ServerText } from '@security-optimizer/contract/server-message';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import { toPlainAddress } from '@security-optimizer/contract/typed-text';
import { ApiError } from '../lib/api-error.js';
import { isAdmitted, parseVisitor, toVisitorSet } from '../lib/carried-address.js';
import { readTypedRanges } from '../lib/typed-ranges.js';
import type { Actor } from '../settings/audit-store.js';
import { changeSettings, type SettingChangeContext } from '../settings/change-settings.js';
import type { SiteConfig } from '../site.js';

export interface LoginAccessChange {
  readonly site: SiteConfig;
  readonly actor: Actor;
  /** The caller's address as it is seen: some addresses are admitted in this form only (`isAdmitted`). */
  readonly seenAddress: string;
  /** Rows of the dialog; empty ones are dropped. */
  readonly entries: readonly string[];
  /** The caller confirms a list that excludes the caller's own address, or that admits every address. */
  readonly confirm: boolean;
}

/**
 * Sets the addresses that may log in; an empty list allows every address.
 *
 * @returns the list as it is stored, and the text for the owner
 * @throws ApiError invalid_input with the positions of invalid rows, would_shut_you_out, means_everybody
 */
export async function setLoginAccess(
  deps: SettingChangeContext,
  { site, actor, seenAddress, entries, confirm }: LoginAccessChange,
): Promise<{ readonly list: readonly string[]; readonly message: string }> {
  const { list, everybody } = parseEntries(entries);
  if (!confirm && excludes(list, seenAddress)) {
    throw new ApiError('would_shut_you_out', {
      message: serverMessage('own_address_missing', { address: actor.address ?? '' }),
    });
  }
  if (!confirm && everybody) {
    throw new ApiError('means_everybody', {
      message: 'A range in this list means everybody, so everyone may try to log in. Nothing was saved.',
    });
  }
  await changeSettings(deps, { site, actor }, () => ({ login_access: list }));
  const message =
    list.length === 0 ? 'Everyone may try to log in.' : 'Only visitors from the addresses in the list may log in.';
  return { list, message };
}

/**
 * The rows of Login Access as they are stored: one address per row, in plain text, so that the list shows what is in
 * force.
 * @param entries rows as they were typed; one may hold several addresses
 * @throws ApiError invalid_input with the positions of invalid rows
 */
export function readLoginAccess(entries: readonly string[]): readonly string[] {
  return parseEntries(entries).list;
}

function parseEntries(entries: readonly string[]): { readonly list: readonly string[]; readonly everybody: boolean } {
  const fields: Record<string, ServerText> = {};
  const list = new Set<string>();
  let everybody = false;
  for (const [index, entry] of entries.entries()) {
    if (toPlainAddress(entry) === '') continue;
    const read = readTypedRanges(entry);
    if ('fault' in read) fields[index] = read.fault;
    else {
      for (const text of read.texts) list.add(text);
      everybody ||= read.everybody;
    }
  }
  if (Object.keys(fields).length > 0) throw new ApiError('invalid_input', { fields });
  if (list.size > LOGIN_ACCESS_MAX) {
    throw new ApiError('invalid_input', {
      fields: { entries: serverMessage('too_many_addresses', { number: LOGIN_ACCESS_MAX }) },
    });
  }
  return { list: [...list], everybody };
}

function excludes(list: readonly string[], seenAddress: string): boolean {
  const caller = parseVisitor(seenAddress);
  return list.length > 0 && caller !== null && !isAdmitted(toVisitorSet(list), caller);
}
