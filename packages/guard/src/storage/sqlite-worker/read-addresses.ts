import { setImmediate as turn } from 'node:timers/promises';
import { AddressLines, type PackedAddresses } from '../../lib/address-set.js';
import type { AddressesCall } from './messages.js';
import type { Prepare } from './prepared-statements.js';

/** Rows that come from SQLite at once, as one text: as many objects would take ten times as long. */
const PIECE_ROWS = 20_000;

/** Values of one kind along the index that has all of them. */
const pieceOf = (condition: string) => `
  select max(value) as last, group_concat(value, char(10)) as lines from (
    select value from blocked_visitors where site = ? and kind = ? and value > ? ${condition}
    order by value limit ${PIECE_ROWS})`;
const PIECE = pieceOf('');
const PIECE_OF_IPV6 = pieceOf("and instr(value, ':') > 0");

/**
 * Reads the addresses and ranges that a site has blocked, of which there may be a million, packed to be handed to
 * another thread. Other calls are answered between two pieces.
 */
export async function readAddresses(prepare: Prepare, { blockedAt, which }: AddressesCall): Promise<PackedAddresses> {
  const read = new AddressLines();
  const kinds = [['range', PIECE] as const, ['ip', which === 'all' ? PIECE : PIECE_OF_IPV6] as const];
  for (const [kind, sql] of kinds) {
    for (let after = ''; ; ) {
      const piece = prepare(sql).get(blockedAt, kind, after) as { last: string | null; lines: string | null };
      if (piece.last === null || piece.lines === null) break;
      read.addText(piece.lines);
      after = piece.last;
      await turn();
    }
  }
  return read.pack();
}
