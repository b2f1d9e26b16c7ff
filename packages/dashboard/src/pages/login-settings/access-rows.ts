import { ADDRESS_CHARACTERS } from '@security-optimizer/contract/login-limits';
import { messages } from '@security-optimizer/contract/messages';
import { isInRange, parseAddressRange } from '../../addresses/address-range.js';
import { parseAddress } from '../../addresses/parse-address.js';
import type { Messages } from '../../forms/use-form-errors.js';
import { translate } from '../../i18n/translate.js';

/** One row of the list. */
export interface AccessRow {
  readonly key: string;
  readonly text: string;
}

/** Rows that are filled in, as they are sent: empty ones are dropped (specification section 5). */
export function filledRows(rows: readonly AccessRow[]): readonly AccessRow[] {
  return rows.map(({ key, text }) => ({ key, text: text.trim() })).filter(({ text }) => text !== '');
}

/** What is wrong, by the key of the row. */
export function accessErrors(rows: readonly AccessRow[]): Messages {
  const errors: Record<string, string> = {};
  for (const { key, text } of filledRows(rows)) {
    const row = text.replace(/\s*-\s*/, '-');
    if (!ADDRESS_CHARACTERS.test(row) || parseAddressRange(row) === null)
      errors[key] = translate(messages.invalidFormat);
  }
  return errors;
}

/** Whether a list would shut this address out: it has rows, and none of them holds it. */
export function shutsOut(address: string, rows: readonly AccessRow[]): boolean {
  const bytes = parseAddress(address);
  const filled = filledRows(rows);
  if (bytes === null || filled.length === 0) return false;
  return !filled.some(({ text }) => {
    const range = parseAddressRange(text);
    return range !== null && isInRange(bytes, range);
  });
}
