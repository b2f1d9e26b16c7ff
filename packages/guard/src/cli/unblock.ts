import { parseAddress } from '../lib/address.js';
import { addressKey } from '../login/address-key.js';
import { COMMAND_LINE } from '../settings/command-line-actor.js';
import { removeLoginLocks } from '../storage/login-locks.js';
import { type Command, UsageError } from './command.js';
import { onSite, recoveryOptionsHelp } from './recovery.js';

export const unblockCommand: Command = {
  name: 'unblock',
  summary: 'Let an address log in again that failed too often.',
  help: `security-optimizer unblock IP --data-dir DIR [--site ID]
security-optimizer unblock --all --data-dir DIR [--site ID]

  IP               an IPv4 or IPv6 address; IPv6 is locked and unlocked by its /64
  --all            every address and every device of the site
${recoveryOptionsHelp}`,
  run: (args) =>
    onSite(
      args,
      ['IP'],
      async ({ site, db, now, words: [text = ''] }, { all }) => {
        const address = parseAddress(text);
        if (!all && address === null) throw new UsageError(`${text} is not an address.`);
        const keys = address === null ? null : [addressKey(address)];
        const gone = await removeLoginLocks(db, { site: site.id, keys, actor: COMMAND_LINE, at: now });
        process.stdout.write(
          gone === 0
            ? 'No failed log-in was stored. Nothing locks it.\n'
            : all
              ? `Unlocked everything: ${gone} addresses and devices with failed log-ins.\n`
              : `Unlocked: ${keys?.join(', ')}.\n`,
        );
        return 0;
      },
      ['all'],
    ),
};
