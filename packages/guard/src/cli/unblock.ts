import { parseAddress } from '../lib/address.js';
import { parseRange, rangeText } from '../lib/address-set.js';
import { addressKey } from '../login/address-key.js';
import { COMMAND_LINE } from '../settings/command-line-actor.js';
import { sqlBlockedVisitorsStore } from '../storage/blocked-visitors-store.js';
import { removeLoginLocks } from '../storage/login-locks.js';
import { type Command, UsageError } from './command.js';
import { type OpenSite, onSite, recoveryOptionsHelp } from './recovery.js';

export const unblockCommand: Command = {
  name: 'unblock',
  summary: 'Let an address in again that failed to log in too often, or whoever was blocked.',
  help: `security-optimizer unblock WHO --data-dir DIR [--site ID]
security-optimizer unblock --all --data-dir DIR [--site ID]

  WHO              an IPv4 or IPv6 address, a range, or the login of a user; ends a block in the dashboard, and for an
                   address the lock by failed log-ins, too; IPv6 is blocked, locked and let in by its /64
  --all            every address and every device with failed log-ins; blocks in the dashboard stay
${recoveryOptionsHelp}`,
  run: (args) =>
    onSite(
      args,
      ['WHO'],
      async (open, { all }) => {
        process.stdout.write(all ? await unlockAll(open) : await unblock(open, open.words[0] ?? ''));
        return 0;
      },
      ['all'],
    ),
};

async function unlockAll({ site, db, now }: OpenSite): Promise<string> {
  const gone = await removeLoginLocks(db, { site: site.id, keys: null, actor: COMMAND_LINE, at: now });
  if (gone === 0) return 'No failed log-in was stored. Nothing is locked.\n';
  return `Unlocked everything: ${gone} addresses and devices with failed log-ins.\n`;
}

async function unblock({ site, db, now }: OpenSite, text: string): Promise<string> {
  const store = sqlBlockedVisitorsStore(db);
  const range = parseRange(text);
  const name = range === null ? text : rangeText(range);
  const address = parseAddress(name);
  // With an IPv6 address its /64 is blocked.
  const names = address?.family === 6 ? [name, addressKey(address)] : [name];
  const blocks = (await Promise.all(names.map((entry) => store.named(site.id, entry)))).flat();
  if (range === null && blocks.length === 0) throw new UsageError(`${text} is not an address.`);
  for (const block of blocks) await store.unblock({ site: site.id, actor: COMMAND_LINE, at: now }, block);
  const keys = address === null ? [] : [addressKey(address)];
  const gone =
    keys.length === 0 ? 0 : await removeLoginLocks(db, { site: site.id, keys, actor: COMMAND_LINE, at: now });
  const lines = [
    ...(blocks.length > 0 ? [`Unblocked: ${[...new Set(blocks.map((block) => block.name))].join(', ')}.`] : []),
    ...(gone > 0 ? [`Unlocked: ${keys.join(', ')}.`] : []),
  ];
  return `${lines.length === 0 ? 'No failed log-in was stored. Nothing locks it, and it is not blocked.' : lines.join('\n')}\n`;
}
