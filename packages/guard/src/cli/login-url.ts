import type { Command } from './command.js';
import { onSite, recoveryOptionsHelp } from './recovery.js';

export const loginUrlCommand: Command = {
  name: 'login-url',
  summary: 'Take the log-in back to the address that WordPress gives it.',
  help: `security-optimizer login-url reset --data-dir DIR [--site ID]

${recoveryOptionsHelp}
The own addresses are kept for the next time.`,
  run: (args) =>
    onSite(args, ['reset'], async ({ change }) => {
      await change(({ login }) => ({ login_url: { ...login.login_url, type: 'default' } }));
      process.stdout.write('The log-in is at wp-login.php.\n');
      return 0;
    }),
};
