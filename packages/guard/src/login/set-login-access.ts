import { ADDRESS_CHARACTERS, LOGIN_ACCESS_MAX } from '@security-optimizer/contract/login-limits';
import { messages } from '@security-optimizer/contract/messages';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import { toPlainAddress } from '@security-optimizer/contract/typed-text';
import { parseRange } from '../lib/address-set.js';
import { ApiError } from '../lib/api-error.js';
import { isAdmitted, parseVisitor, toVisitorSet } from '../lib/carried-address.js';
import type { Actor } from '../settings/audit-store.js';
import { changeSettings, type SettingChangeContext } from '../settings/change-settings.js';
import type { SiteConfig } from '../site.js';

export interface LoginAccessChange {
  readonly site: SiteConfig;
  readonly actor: Actor;
  /** The caller's address as it is seen: some addresses are admitted by it only (`isAdmitted`). */
  readonly seen: string;
  /** Rows of the dialog; empty ones are dropped. */
  readonly entries: readonly string[];
  /** The caller confirms that the list excludes the caller's own address. */
  readonly confirm: boolean;
}

/**
 * Sets the addresses that may log in; an empty list allows every address.
 *
 * @returns the list as it is stored, and the text for the owner
 * @throws ApiError invalid_input with the positions of invalid rows, would_shut_you_out
 */
export async function setLoginAccess(
  deps: SettingChangeContext,
  { site, actor, seen, entries, confirm }: LoginAccessChange,
): Promise<{ readonly list: readonly string[]; readonly message: string }> {
  const list = readLoginAccess(entries);
  if (!confirm && shutsOut(list, seen)) {
    throw new ApiError('would_shut_you_out', {
      message: serverMessage('own_address_missing', { address: actor.address ?? '' }),
    });
  }
  await changeSettings(deps, { site, actor }, () => ({ login_access: list }));
  const message =
    list.length === 0 ? 'Everyone may try to log in.' : 'Only visitors from the addresses in the list may log in.';
  return { list, message };
}

/**
 * The rows of Login Access as they are stored: in plain text, so that the list shows what holds.
 * @throws ApiError invalid_input with the positions of invalid rows
 */
export function readLoginAccess(entries: readonly string[]): string[] {
  const fields: Record<string, string> = {};
  const list: string[] = [];
  for (const [index, entry] of entries.entries()) {
    const line = toPlainAddress(entry);
    if (line === '') continue;
    // People write spaces around the hyphen of a range; other spaces inside a row are invalid.
    const row = line.replace(/\s*-\s*/, '-');
    if (!ADDRESS_CHARACTERS.test(row) || parseRange(row) === null) fields[index] = messages.invalidFormat;
    else if (!list.includes(row)) list.push(row);
  }
  if (Object.keys(fields).length > 0) throw new ApiError('invalid_input', { fields });
  if (list.length > LOGIN_ACCESS_MAX) {
    throw new ApiError('invalid_input', {
      fields: { entries: serverMessage('too_many_addresses', { number: LOGIN_ACCESS_MAX }) },
    });
  }
  return list;
}

function shutsOut(list: readonly string[], seen: string): boolean {
  const caller = parseVisitor(seen);
  return list.length > 0 && caller !== null && !isAdmitted(toVisitorSet(list), caller);
}
