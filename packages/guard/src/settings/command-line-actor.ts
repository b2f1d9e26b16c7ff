import type { Actor } from '../storage/settings-store.js';

/** Who stands in the audit rows of the command line. */
export const COMMAND_LINE: Actor = { id: null, login: 'command line', address: null };
