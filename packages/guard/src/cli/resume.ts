import type { Command } from './command.js';
import { onSite, recoveryOptionsHelp } from './recovery.js';

export const resumeCommand: Command = {
  name: 'resume',
  summary: 'End a pause; everything is in force again.',
  help: `security-optimizer resume --data-dir DIR [--site ID]

${recoveryOptionsHelp}`,
  run: (args) =>
    onSite(args, [], async ({ change }) => {
      await change(() => ({ paused_until: 0 }));
      process.stdout.write('Everything is in force.\n');
      return 0;
    }),
};
