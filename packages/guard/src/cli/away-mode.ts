import type { Command } from './command.js';
import { onSite, recoveryOptionsHelp } from './recovery.js';

export const awayModeCommand: Command = {
  name: 'away-mode',
  summary: 'End Away Mode, also while it is on.',
  help: `security-optimizer away-mode off --data-dir DIR [--site ID]

${recoveryOptionsHelp}`,
  run: (args) =>
    onSite(args, ['off'], async ({ change }) => {
      await change(() => ({ away_mode: { type: 'off' } }));
      process.stdout.write('Away Mode is off.\n');
      return 0;
    }),
};
