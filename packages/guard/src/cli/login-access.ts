import type { Command } from './command.js';
import { onSite, recoveryOptionsHelp } from './recovery.js';

export const loginAccessCommand: Command = {
  name: 'login-access',
  summary: 'Let every address try to log in.',
  help: `security-optimizer login-access clear --data-dir DIR [--site ID]

${recoveryOptionsHelp}`,
  run: (args) =>
    onSite(args, ['clear'], async ({ change }) => {
      await change(() => ({ login_access: [] }));
      process.stdout.write('The Login Access list is empty. Every address may try to log in.\n');
      return 0;
    }),
};
