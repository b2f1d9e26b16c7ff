/** What a program needs that runs guard inside itself, as the bundle has it: see `exports` in package.json. */
export { type AttachOptions, attach } from './cli/attach.js';
export { createLogger } from './lib/logger.js';
export { loadConfig } from './load-config.js';
export { type RunningGuard, startGuard } from './main.js';
